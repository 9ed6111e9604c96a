// Is there exactly one host in the end, whatever happens? A failing run names its seed: SIMULATION_SEED=n runs it alone.
import { expect, test } from "bun:test";
import { simulate } from "../support/simulation.ts";

const only = process.env["SIMULATION_SEED"];
const seeds = (count: number): number[] =>
  only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];

/** A loaded machine may take its time; the runs themselves know no wall clock. */
const TIMEOUT_MS = 60_000;

const failuresOf = (count: number, plugins: (seed: number) => number): string[] =>
  seeds(count)
    .map((seed) => simulate(seed, plugins(seed)))
    .flatMap(({ seed, wrong, story }) => (wrong ? [`seed ${seed}: ${wrong}\n  ${story.join("\n  ")}`] : []));

test(
  "[TK13] a thousand seeded stories of crashes, hangs and squatters each end with exactly one host",
  () => {
    expect(failuresOf(1_000, () => 0)).toEqual([]);
  },
  TIMEOUT_MS,
);

test("[TK13] the same seed tells the same story, so that a failure can be looked at again", () => {
  for (const seed of [3, 8, 11]) expect(simulate(seed).story).toEqual(simulate(seed).story);
});

test(
  "[TK13] plugins come back to whoever hosts in the end, all of them",
  () => {
    expect(failuresOf(200, (seed) => 1 + (seed % 3))).toEqual([]);
  },
  TIMEOUT_MS,
);
