// How much slower than nothing at all do we start? Measured against an empty program compiled in the same run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../support/statistics.ts";
import { atMostTimes, ms, type Row } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";

const GOAL = 2;
const FLAGS = ["--version", "--help"] as const;

async function compileEmpty(directory: string): Promise<string> {
  const source = join(directory, "empty.ts");
  const outfile = join(directory, "empty");
  writeFileSync(source, "export {};\n");
  const built = await Bun.build({ entrypoints: [source], compile: { outfile }, target: "bun", minify: true });
  if (!built.success) throw new AggregateError(built.logs, "Compiling the empty program failed");
  return outfile;
}

function timeOf(command: string[]): number {
  const since = performance.now();
  const { exitCode } = Bun.spawnSync(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const took = performance.now() - since;
  if (exitCode !== 0) throw new Error(`"${command.join(" ")}" ended with ${exitCode}`);
  return took;
}

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
