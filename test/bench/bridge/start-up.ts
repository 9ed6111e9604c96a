// How much slower than nothing at all do we start? Measured against an empty program compiled in the same run.
import { compileEmpty, timeOf } from "../support/empty-program.ts";
import { median } from "../support/statistics.ts";
import { atMostTimes, ms, type Row } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";

const GOAL = 2;
const FLAGS = ["--version", "--help"] as const;

export async function startUp(yard: Yard, binary: string, runs: number): Promise<Row[]> {
  const commands = [[await compileEmpty(yard.directory)], ...FLAGS.map((flag) => [binary, flag])];
  // Once unmeasured: the files are read from disk only then.
  for (const command of commands) timeOf(command);
  const took: number[][] = commands.map(() => []);
  for (let run = 0; run < runs; run++) {
    for (const [at, command] of commands.entries()) took[at]?.push(timeOf(command));
    // Lets a Ctrl-C through.
    await Bun.sleep(0);
  }
  const [empty = 0, ...ours] = took.map(median);
  return FLAGS.map((flag, at) => {
    const own = ours[at] ?? Number.NaN;
    return atMostTimes(`Start of ${flag}, to empty program`, GOAL, own / empty, `empty ${ms(empty)}, ours ${ms(own)}`);
  });
}
