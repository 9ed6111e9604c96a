// Are time spans told as people say them?
import { expect, test } from "bun:test";
import { span, spanAhead } from "../../src/core/span.ts";

test("two units at most, and none that is zero", () => {
  const told = [0, 1, 999, 4_000, 59_999, 60_000, 192_000, 3_600_000, 4_800_000, 90_061_000].map(span);
  expect(told).toEqual(["0 s", "1 ms", "999 ms", "4 s", "59 s", "1 m", "3 m 12 s", "1 h", "1 h 20 m", "1 d 1 h"]);
});

test("what is ahead is rounded up, what has passed down", () => {
  expect([spanAhead(1), spanAhead(191_001), spanAhead(-5)]).toEqual(["1 s", "3 m 12 s", "0 s"]);
  expect(span(191_999)).toBe("3 m 11 s");
});
