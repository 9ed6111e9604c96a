// Is a moment of the wall clock found again in waking time, over sleeps, jumps and times without a host?
import { expect, test } from "bun:test";
import { TICK_MS } from "../../src/core/awake.ts";
import { type AwakeRecord, awakeMsAt, isAwakeRecord, later, nextHost } from "../../src/core/awake-record.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const AT = Date.UTC(2030, 0, 1);
const fresh = nextHost(undefined, AT);
const since = (record: AwakeRecord, at: number): number => record.end.awakeMs - awakeMsAt(record, at);

test("[ID7] side by side they make one stretch, however often it is written down", () => {
  let record = fresh;
  for (let ms = TICK_MS; ms <= HOUR; ms += TICK_MS) record = later(record, { at: AT + ms, awakeMs: ms });
  expect(record.stretches).toHaveLength(1);
  expect(since(record, AT + 50 * MINUTE)).toBe(10 * MINUTE);
});

test("[ID7] a night's sleep is one tick, also for what was written before it", () => {
  const evening = later(fresh, { at: AT + HOUR, awakeMs: HOUR });
  const morning = later(evening, { at: AT + 9 * HOUR, awakeMs: HOUR + TICK_MS });
  expect(since(morning, AT + HOUR - MINUTE)).toBe(MINUTE + TICK_MS);
  expect(since(morning, AT + 5 * HOUR)).toBe(0);
});

test("[ID11] the gap between two hosts counts as it was, and as one tick at most", () => {
  const first = later(fresh, { at: AT + HOUR, awakeMs: HOUR });
  expect(nextHost(first, AT + HOUR + 5_000).end.awakeMs).toBe(HOUR + 5_000);
  const next = nextHost(first, AT + 3 * DAY);
  expect(next.end.awakeMs).toBe(HOUR + TICK_MS);
  expect(since(next, AT + HOUR - MINUTE)).toBe(MINUTE + TICK_MS);
});

test("[ID11] hosts that follow each other at once leave one stretch: a storm of them forgets nothing", () => {
  let record = fresh;
  for (let count = 1; count <= 1_000; count++) record = nextHost(record, AT + count * 100);
  expect(record.stretches).toHaveLength(1);
  expect(since(record, AT)).toBe(100_000);
});

test("[ID11] a clock that is put forward or back moves nobody's time", () => {
  const wrong = later(nextHost(undefined, AT - 2 * DAY), { at: AT - 2 * DAY + MINUTE, awakeMs: MINUTE });
  const right = nextHost(wrong, AT);
  expect(since(right, AT - 2 * DAY + MINUTE - 6_000)).toBe(6_000 + TICK_MS);
  const back = nextHost(right, AT - DAY);
  expect(back.end.awakeMs).toBe(right.end.awakeMs);
  expect(since(back, AT - 2 * DAY + MINUTE - 6_000)).toBe(6_000 + TICK_MS);
});

test("[ID11] what is older than all that is known was one tick ago: nobody is judged too soon", () => {
  expect(since(fresh, AT - DAY)).toBe(TICK_MS);
  let record = fresh;
  for (let count = 1; count <= 200; count++) record = nextHost(record, AT + count * HOUR);
  expect(record.stretches.length).toBeLessThan(100);
  expect(since(record, AT)).toBeLessThanOrEqual(200 * TICK_MS);
});

test("what somebody else left in the file is no record", () => {
  const bad = [null, 1, {}, { stretches: [] }, { stretches: [{ at: 1 }], end: fresh.end }, { stretches: [fresh.end] }];
  expect(bad.filter(isAwakeRecord)).toEqual([]);
  expect(isAwakeRecord(JSON.parse(JSON.stringify(fresh)))).toBe(true);
});
