// What was asked for on the command line?
import type { Fault } from "./faults/fault.ts";
import { chosenFaults } from "./faults/table.ts";

export interface Options {
  rounds: { seed: number; seconds: number }[];
  faults: Fault[];
  diskMb?: number;
  load: number;
  json: boolean;
  /** Tries for a shorter story. */
  shrinks: boolean;
}

export const HELP = (faults: readonly Fault[]): string => `bun run chaos [FLAGS]

Drives the built binary (dist/holdfast, or HOLDFAST_BINARY) under load, throws faults at it, and checks from outside
that nothing is lost, doubled or left. Exit code 1 on any violation; then the story is told and the evidence kept.

  --seed N        the dice; printed at the start and at the end (default: a random one)
  --seconds S     how long faults are thrown (default: 60)
  --faults a,b    only these; the first word stands for all that begin with it (default: all)
  --disk MB       on a small disk that fills up (Linux, root)
  --load N        N busy loops beside it
  --json          the summary as one JSON document
  --no-shrink     do not look for a shorter story of a violation
  --check         30 s with a fixed seed and 30 s with a random one, as bun run check does

Faults:
${faults.map(({ name, says }) => `  ${name.padEnd(15)} ${says}`).join("\n")}`;

const FIXED_SEED = 11;
const CHECK_SECONDS = 30;
const randomSeed = (): number => Math.floor(Math.random() * 2 ** 31);

export function readOptions(words: readonly string[], all: readonly Fault[]): Options | "help" {
  const values = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const [name, given] = word.split("=", 2) as [string, string | undefined];
    if (["--json", "--check", "--no-shrink"].includes(name)) values.set(name, "yes");
    else if (["--help", "-h"].includes(name)) return "help";
    else if (["--seed", "--seconds", "--faults", "--disk", "--load"].includes(name)) {
      const value = given ?? words[++at];
      if (value === undefined) throw new Error(`${name} needs a value`);
      values.set(name, value);
    } else throw new Error(`"${word}" is no flag of chaos; see --help`);
  }
  const number = (name: string): number | undefined => {
    const text = values.get(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (text === "" || !Number.isFinite(value) || value < 0)
      throw new Error(`${name} got "${text}": a number is wanted`);
    return value;
  };
  const seed = number("--seed") ?? randomSeed();
  const disk = number("--disk");
  const names = values.get("--faults")?.split(",") ?? [];
  return {
    rounds: values.has("--check")
      ? [
          { seed: FIXED_SEED, seconds: CHECK_SECONDS },
          { seed: randomSeed(), seconds: CHECK_SECONDS },
        ]
      : [{ seed, seconds: number("--seconds") ?? 60 }],
    faults: names.length > 0 ? chosenFaults(names, all) : [...all],
    ...(disk === undefined ? {} : { diskMb: disk }),
    load: number("--load") ?? 0,
    json: values.has("--json"),
    shrinks: !values.has("--no-shrink") && !values.has("--check"),
  };
}
