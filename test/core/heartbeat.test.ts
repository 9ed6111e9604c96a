// Is a browser frozen, or were we? Two misses in a row while our own loop was on time.
import { expect, test } from "bun:test";
import { BEAT_EVERY_MS, BEAT_LIMIT_MS, freshPulse, judgeBeat } from "../../src/core/heartbeat.ts";

const beats = (...all: ("answer" | "miss" | "late")[]): string =>
  all.reduce(
    (pulse, beat) => judgeBeat(pulse, { answered: beat === "answer", lateMs: beat === "late" ? 2_000 : 3 }),
    freshPulse,
  ).state;

test("[BR5] a beat every half second with a limit of 1.5 s", () => {
  expect([BEAT_EVERY_MS, BEAT_LIMIT_MS]).toEqual([500, 1_500]);
});

test("[BR5] two misses in a row mean frozen; one does not, and an answer in between starts anew", () => {
  expect(beats("miss")).toBe("beating");
  expect(beats("miss", "miss")).toBe("frozen");
  expect(beats("miss", "answer", "miss")).toBe("beating");
});

test("[BR5] misses while our own loop was late do not count: it was us", () => {
  expect(beats("late", "late", "late")).toBe("beating");
  expect(beats("miss", "late", "miss")).toBe("beating");
});
