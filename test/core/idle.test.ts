// Is the right thing stopped at the right moment?
import { describe, expect, test } from "bun:test";
import {
  checkIdle,
  firstCheckMs,
  IDLE_RECHECK_MS,
  type IdleGuard,
  type IdleHistory,
  UNKNOWN_MS,
  type Verdict,
} from "../../src/core/idle.ts";

const MINUTE = 60_000;
const START = 1_000;
const limits = { idleTimeoutMs: 5 * MINUTE, maxIdleMs: 30 * MINUTE, staleOutputMs: 10 * MINUTE };
const guard = (verdict: Verdict, index = 0): IdleGuard<unknown> => ({
  name: `guard ${index}`,
  shouldKeepAlive: () => verdict,
});
const thrower = (name: string): IdleGuard<unknown> => ({
  name,
  shouldKeepAlive() {
    throw new Error("broken");
  },
});
const check = (idleMs: number, verdicts: Verdict[], wasDeferred = false, own = limits, history: IdleHistory = {}) =>
  checkIdle(START, wasDeferred, verdicts.map(guard), history, own, START + idleMs);

describe("the order", () => {
  test("[ID1] nothing keeps it: stopped", () => {
    expect(check(5 * MINUTE, [])).toEqual({ action: "kill", reason: "idle for 5 m" });
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
    const after = { keptBy: ["turn", "queue"] };
    expect(check(MINUTE, [{ keep: false }], true, limits, after)).toEqual({
      action: "recheck",
      delayMs: 5 * MINUTE,
      guardDeferred: false,
      reason: "grace after turn",
    });
    expect(check(6 * MINUTE, [{ keep: false }], false, limits, after)).toMatchObject({ action: "kill" });
  });

  test("[ID1] a guard that keeps again ends a grace before it began", () => {
    expect(check(MINUTE, [{ keep: false }, { keep: true, reason: "again" }], true)).toMatchObject({
      guardDeferred: true,
      reason: "again",
    });
  });

  test("[GD2] a guard that forbids it leaves no grace, whatever the others say", () => {
    const stalled = { keep: false, grace: false, reason: "stalled" };
    expect(check(MINUTE, [{ keep: false }, stalled], true)).toEqual({ action: "kill", reason: "stalled" });
  });
});

describe("the cap", () => {
  const keeping = [{ keep: true, reason: "turn" }];

  test("[ID2] it comes before the guards, which are not even asked", () => {
    let asked = 0;
    const counting: IdleGuard<unknown> = { name: "counting", shouldKeepAlive: () => ({ keep: ++asked > 0 }) };
    const at = (idleMs: number) => checkIdle(START, true, [counting], {}, limits, START + idleMs);
    expect(at(30 * MINUTE + 1)).toEqual({ action: "kill", reason: "idle for more than 30 m, the longest allowed" });
    expect(asked).toBe(0);
    at(30 * MINUTE);
    expect(asked).toBe(1);
  });

  test("[ID2] at exactly the cap nothing is stopped, a moment later everything is", () => {
    expect(check(30 * MINUTE, keeping)).toMatchObject({ action: "recheck", delayMs: 1 });
    expect(check(30 * MINUTE + 0.5, keeping)).toMatchObject({ action: "kill" });
    expect(check(30 * MINUTE, [], true)).toMatchObject({ action: "recheck", delayMs: 1 });
  });

  test("[ID3] a recheck is clipped to the time left plus 1 ms", () => {
    expect(check(29 * MINUTE + 50_000, keeping)).toMatchObject({ delayMs: 10_001 });
    expect(check(29 * MINUTE, [{ keep: true, recheckMs: 60 * MINUTE }])).toMatchObject({ delayMs: MINUTE + 1 });
  });

  test("[ID3] a grace never outlives the cap", () => {
    const grace = check(28 * MINUTE, [{ keep: false }], true);
    expect(grace).toMatchObject({ action: "recheck", delayMs: 2 * MINUTE + 1, guardDeferred: false });
    expect(check(28 * MINUTE + 2 * MINUTE + 1, keeping)).toMatchObject({ action: "kill" });
  });

  test("[ID3] nothing spins at it: followed from check to check it ends in a handful", () => {
    let at = 29 * MINUTE + 59_990;
    let checks = 0;
    for (let found = check(at, keeping); found.action === "recheck"; found = check(at, keeping)) {
      at += found.delayMs;
      checks++;
    }
    expect(at).toBe(30 * MINUTE + 1);
    expect(checks).toBe(1);
  });

  test("[ID3] the first check is clipped as well", () => {
    expect(firstCheckMs(limits)).toBe(5 * MINUTE);
    expect(firstCheckMs({ ...limits, maxIdleMs: MINUTE })).toBe(MINUTE + 1);
    expect(firstCheckMs({ ...limits, maxIdleMs: 0 })).toBe(5 * MINUTE);
  });

  test("[ID6] a cap of 0 is no cap", () => {
    const uncapped = { ...limits, maxIdleMs: 0 };
    expect(check(99 * 60 * MINUTE, keeping, false, uncapped)).toMatchObject({
      action: "recheck",
      delayMs: IDLE_RECHECK_MS,
    });
    expect(check(99 * 60 * MINUTE, [], true, uncapped)).toMatchObject({ delayMs: 5 * MINUTE });
    expect(check(99 * 60 * MINUTE, [], false, uncapped)).toMatchObject({ action: "kill" });
  });
});

describe("the reasons", () => {
  test("[ID4] all guards are asked and all their reasons told, those that keep first", () => {
    const verdicts = [
      { keep: false, reason: "stalled" },
      { keep: true, reason: "permission" },
      { keep: false },
      { keep: true, reason: "queue" },
    ];
    expect(check(MINUTE, verdicts)).toMatchObject({ reason: "permission; queue; stalled" });
    expect(
      check(MINUTE, [
        { keep: false, reason: "one" },
        { keep: false, reason: "two" },
      ]),
    ).toEqual({ action: "kill", reason: "one; two" });
  });
});

describe("a guard that throws", () => {
  const at = (
    idleMs: number,
    failingSince: number | undefined,
    wasDeferred = false,
    more: IdleGuard<unknown>[] = [],
  ) => {
    const failed: string[] = [];
    const kept: string[] = [];
    const history = failingSince === undefined ? {} : { failingSince: { broken: failingSince } };
    const found = checkIdle(START, wasDeferred, [thrower("broken"), ...more], history, limits, START + idleMs, {
      failed: (name, thrown) => void failed.push(`${name}: ${thrown}`),
      kept: (name) => void kept.push(name),
    });
    return { found, failed, kept };
  };

  test("[ID5] counts as one that keeps, and is told", () => {
    const { found, failed, kept } = at(5 * MINUTE, undefined);
    expect(found).toMatchObject({
      action: "recheck",
      delayMs: IDLE_RECHECK_MS,
      guardDeferred: true,
      reason: 'unknown: the guard "broken" failed',
    });
    expect(failed).toEqual(["broken: Error: broken"]);
    expect(kept).toEqual(["broken"]);
  });

  test("[ID5] for 5 minutes, not at them but after them it stops counting", () => {
    const since = START + 5 * MINUTE;
    expect(at(5 * MINUTE + UNKNOWN_MS, since).found).toMatchObject({ action: "recheck", guardDeferred: true });
    expect(at(5 * MINUTE + UNKNOWN_MS + 1, since, true)).toMatchObject({
      found: { action: "recheck", guardDeferred: false },
      kept: [],
    });
    expect(at(5 * MINUTE + UNKNOWN_MS + 1, since, false).found).toMatchObject({ action: "kill" });
  });

  test("[ID5] does not silence the others", () => {
    const { found } = at(20 * MINUTE, START, false, [guard({ keep: true, reason: "queue" })]);
    expect(found).toMatchObject({ guardDeferred: true, reason: 'queue; unknown: the guard "broken" failed' });
  });

  test("[ID5] never stops anything sooner: it leaves the grace, and the cap where it was", () => {
    expect(at(20 * MINUTE, START, true).found).toMatchObject({ action: "recheck", delayMs: 5 * MINUTE });
    expect(at(30 * MINUTE, START + 29 * MINUTE).found).toMatchObject({ action: "recheck", delayMs: 1 });
    expect(at(30 * MINUTE + 1, START + 30 * MINUTE).found).toMatchObject({ action: "kill" });
  });
});
