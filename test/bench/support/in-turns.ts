// How do two ways compare on a busy machine? Measured in turns, so that what else runs falls on both.
import { median } from "./statistics.ts";

/** One value of each per round, side by side, after a round to warm up. */
export async function inTurns(rounds: number, bare: () => Promise<number>, ours: () => Promise<number>) {
  await bare();
  await ours();
  const pairs: { bare: number; ours: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) pairs.push({ bare: await bare(), ours: await ours() });
    else {
      const first = await ours();
      pairs.push({ ours: first, bare: await bare() });
    }
  }
  return {
    bare: median(pairs.map((pair) => pair.bare)),
    ours: median(pairs.map((pair) => pair.ours)),
    ratio: median(pairs.map((pair) => pair.ours / pair.bare)),
  };
}
