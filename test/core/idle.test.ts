// Is the right thing stopped at the right moment?
import { expect, test } from "bun:test";
import { checkIdle, IDLE_RECHECK_MS, type IdleGuard, type Verdict } from "../../src/core/idle.ts";

const MINUTE = 60_000;
const limits = { idleTimeoutMs: 5 * MINUTE, maxIdleMs: 30 * MINUTE, staleOutputMs: 10 * MINUTE };
const guard = (verdict: Verdict): IdleGuard<null> => ({ name: "test", shouldKeepAlive: () => verdict });
const check = (idleMs: number, verdicts: Verdict[], wasDeferred = false, own = limits) =>
  checkIdle(1_000, wasDeferred, verdicts.map(guard), null, own, 1_000 + idleMs);

test("[ID1] nothing keeps it: stopped", () => {
  expect(check(5 * MINUTE, [])).toEqual({ action: "kill", reason: "idle" });
  expect(check(5 * MINUTE, [{ keep: false, reason: "turn over" }])).toEqual({ action: "kill", reason: "turn over" });
});

test("[ID1] a guard keeps it: looked at again in 30 s, or when the guard says", () => {
  expect(check(MINUTE, [{ keep: true, reason: "turn" }])).toEqual({
    action: "recheck",
    delayMs: IDLE_RECHECK_MS,
    guardDeferred: true,
    reason: "turn",
  });
  expect(check(MINUTE, [{ keep: true, recheckMs: 7 }, { keep: true }])).toMatchObject({ delayMs: 7 });
});

test("[ID1] a guard kept it last time and none does now: one grace of the idle timeout, then stopped", () => {
  expect(check(MINUTE, [{ keep: false }], true)).toMatchObject({
    action: "recheck",
    delayMs: 5 * MINUTE,
    guardDeferred: false,
  });
  expect(check(6 * MINUTE, [{ keep: false }], false)).toMatchObject({ action: "kill" });
});

test("[GD2] a guard that forbids it leaves no grace", () => {
  expect(check(MINUTE, [{ keep: false, grace: false, reason: "stalled" }], true)).toEqual({
    action: "kill",
    reason: "stalled",
  });
});

test("[ID2] the cap comes before the guards, and at exactly the cap nothing is stopped", () => {
  const keeping = [{ keep: true, reason: "turn" }];
  expect(check(30 * MINUTE, keeping)).toMatchObject({ action: "recheck", delayMs: 1 });
  expect(check(30 * MINUTE + 1, keeping)).toMatchObject({ action: "kill" });
});

test("[ID3] every delay is clipped to the time left to the cap plus 1 ms", () => {
  expect(check(29 * MINUTE + 50_000, [{ keep: true }])).toMatchObject({ delayMs: 10_001 });
  expect(check(28 * MINUTE, [{ keep: false }], true)).toMatchObject({ delayMs: 2 * MINUTE + 1, guardDeferred: false });
});

test("[ID4] all guards are asked and all their reasons told", () => {
  const reasons = [
    { keep: true, reason: "turn" },
    { keep: false, reason: "not told" },
    { keep: true, reason: "permission" },
  ];
  expect(check(MINUTE, reasons)).toMatchObject({ reason: "turn; permission" });
});

test("[ID6] a cap of 0 is no cap", () => {
  const uncapped = { ...limits, maxIdleMs: 0 };
  expect(check(99 * 60 * MINUTE, [{ keep: true }], false, uncapped)).toMatchObject({
    action: "recheck",
    delayMs: IDLE_RECHECK_MS,
  });
});
