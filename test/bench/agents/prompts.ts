// How long does a person wait for a short answer? The whole command, from its start to its exit, beside an empty program.
import { compileEmpty, timeOf } from "../support/empty-program.ts";
import { inTurns } from "../support/in-turns.ts";
import { median, percentile } from "../support/statistics.ts";
import { atMostTimes, ms, type Row, told } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";
import { startWarmHost } from "./warm-host.ts";

const GOAL = 4;
const ROUNDS_AT_ONCE = 9;

export interface PromptsSize {
  runs: number;
  atOnce: number;
}

export async function prompts(yard: Yard, binary: string, { runs, atOnce }: PromptsSize): Promise<Row[]> {
  const empty = [await compileEmpty(yard.directory)];
  const host = await startWarmHost(yard, binary);
  const words = ["prompt", "demo", "hi"];
  const prompt = host.command(...words);
  const measured = (command: string[]) => async () => {
    // Lets a Ctrl-C through.
    await Bun.sleep(0);
    return timeOf(command, yard.env);
  };
  const { bare, ours, ratio } = await inTurns(runs, measured(empty), measured(prompt));

  const together: number[] = [];
  const lasts: number[] = [];
  for (let round = 0; round < Math.min(ROUNDS_AT_ONCE, runs); round++) {
    const since = performance.now();
    const each = Array.from({ length: atOnce }, async () => {
      await host.run(...words);
      return performance.now() - since;
    });
    lasts.push(...(await Promise.all(each)));
    together.push(performance.now() - since);
  }
  await host.end();
  const all = median(together);
  return [
    atMostTimes("Warm prompt to its exit, to empty program", GOAL, ratio, `empty ${ms(bare)}, ours ${ms(ours)}`),
    told(
      `${atOnce} prompts at once, until all have exited`,
      ms(all),
      `${ms(all / atOnce)} each, p95 of one ${ms(percentile(lasts, 0.95))}`,
    ),
  ];
}
