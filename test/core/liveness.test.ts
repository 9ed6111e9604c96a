// Is a silent peer dropped in time, and never because we slept ourselves?
import { expect, test } from "bun:test";
import { awakeMs, isPingPulse, livenessOf, PULSE_MS } from "../../src/core/liveness.ts";

test("[PL6] a plugin is stale after 45 s of silence and gone after 60 s", () => {
  expect([0, 44_999, 45_000, 59_999, 60_000].map(livenessOf)).toEqual(["alive", "alive", "stale", "stale", "gone"]);
});

test("[PL6] pings go out every 15 s", () => {
  const pinged = Array.from({ length: 9 }, (_, index) => index + 1).filter(isPingPulse);
  expect(pinged.map((pulse) => pulse * PULSE_MS)).toEqual([15_000, 30_000, 45_000]);
});

test("[PL6] a sleep of our own counts as one pulse, not as silence of others", () => {
  expect(awakeMs(8 * 3_600_000)).toBe(PULSE_MS);
  expect(awakeMs(1_200)).toBe(1_200);
});
