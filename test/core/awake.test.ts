// Are only waking hours counted?
import { expect, test } from "bun:test";
import { type Awake, awakeAt, nextTick, TICK_MS } from "../../src/core/awake.ts";

const HOUR = 60 * 60_000;
const fresh: Awake = { sumMs: 0, since: 0, plannedMs: 0 };

test("[ID7] a tick adds what passed, and at most what was planned", () => {
  const awake = nextTick(fresh, 100, 20_000);
  expect(awake.plannedMs).toBe(20_000);
  expect(awakeAt(awake, 10_100)).toBe(10_000);
  expect(awakeAt(awake, 100 + 8 * HOUR)).toBe(20_000);
});

test("[ID7] a tick is short, so that a sleep costs little", () => {
  const awake = nextTick(fresh, 0, Number.POSITIVE_INFINITY);
  expect(awake.plannedMs).toBe(TICK_MS);
  expect(nextTick(awake, 8 * HOUR, 0).sumMs).toBe(TICK_MS);
  expect(TICK_MS).toBe(30_000);
});

test("[ID7] sums go on from tick to tick, and a clock that runs backwards adds nothing", () => {
  let awake = fresh;
  for (let at = 0; at <= 90_000; at += 30_000) awake = nextTick(awake, at, Number.POSITIVE_INFINITY);
  expect(awake.sumMs).toBe(90_000);
  expect(awakeAt(awake, 5)).toBe(90_000);
});

test("what is overdue is planned for now", () => {
  expect(nextTick({ sumMs: 500, since: 0, plannedMs: 0 }, 0, 100).plannedMs).toBe(0);
});
