// Is there a shorter story? The same seed again, for less time, with only those faults that struck shortly before.
import type { Fault } from "./faults/fault.ts";
import type { RoundOptions, RoundResult } from "./round.ts";

const TRIES = 3;
const SECONDS = 20;

/** From few faults to fewer: all suspects together, then one by one. */
export function triesOf(suspects: readonly string[], all: readonly Fault[]): Fault[][] {
  const named = all.filter(({ name }) => suspects.includes(name));
  const together = named.length < all.length && named.length > 1 ? [named] : [];
  const alone = all.length > 1 ? named.map((each) => [each]) : [];
  return [...together, ...alone].slice(0, TRIES);
}

/** Those rounds that show a violation of the same kind with less. */
export async function shrink(
  round: RoundResult,
  options: RoundOptions,
  play: (options: RoundOptions) => Promise<RoundResult>,
): Promise<RoundResult[]> {
  const kinds = new Set(round.violations.map(({ kind }) => kind));
  const shorter: RoundResult[] = [];
  for (const faults of triesOf(round.suspects, options.faults)) {
    if (options.signal.aborted) break;
    const names = faults.map(({ name }) => name).join(",");
    const again = await play({ ...options, faults, seconds: Math.min(options.seconds, SECONDS), say: () => {} });
    const isSame = again.violations.some(({ kind }) => kinds.has(kind));
    options.say(`chaos: with --faults ${names} alone it ${isSame ? "is seen again" : "is not seen"}`);
    if (isSame) shorter.push(again);
  }
  return shorter;
}
