// Is it said why a session is kept, or when it goes?
import { expect, test } from "bun:test";
import type { Verdict } from "../../src/core/idle.ts";
import { type Countdown, forecast } from "../../src/core/idle-forecast.ts";

const MINUTE = 60_000;
const limits = { idleTimeoutMs: 5 * MINUTE, maxIdleMs: 30 * MINUTE, staleOutputMs: 10 * MINUTE };
const foresee = (verdict: Verdict, some: Partial<Countdown>, now: number, own = limits) => {
  const countdown = { idleStart: 0, guardDeferred: false, dueAt: 5 * MINUTE, grace: undefined, ...some };
  return forecast(countdown, [{ name: "turn", shouldKeepAlive: () => verdict }], { keptBy: ["turn"] }, own, now);
};

test("[ID12] kept: the guard's reason, and no time", () => {
  expect(foresee({ keep: true, reason: "turn in progress" }, {}, MINUTE)).toEqual({
    verdict: "kept",
    reason: "kept: turn in progress",
    dueInMs: null,
    capInMs: 29 * MINUTE + 1,
  });
});

test("[ID12] going: how long it takes to the next check, which stops it", () => {
  expect(foresee({ keep: false }, {}, MINUTE)).toMatchObject({
    verdict: "stops",
    reason: "stops in 4 m: idle for 1 m",
    dueInMs: 4 * MINUTE,
  });
});

test("[ID12] in a grace it says of what", () => {
  const found = foresee({ keep: false }, { dueAt: 12 * MINUTE, grace: "grace after turn" }, 12 * MINUTE - 192_000);
  expect(found).toMatchObject({ reason: "stops in 3 m 12 s: grace after turn", dueInMs: 192_000 });
});

test("[ID12] before a grace that is certain it counts the grace, clipped to the cap", () => {
  const kept = { guardDeferred: true, dueAt: 6 * MINUTE };
  expect(foresee({ keep: false }, kept, 5.5 * MINUTE)).toMatchObject({
    reason: "stops in 5 m 30 s: grace after turn",
  });
  const late = { guardDeferred: true, dueAt: 28 * MINUTE };
  expect(foresee({ keep: false }, late, 27 * MINUTE)).toMatchObject({ dueInMs: 3 * MINUTE + 1 });
});

test("[ID12] [GD2] a stalled turn goes at the next check, in its own words", () => {
  const verdict = { keep: false, grace: false, reason: "stalled: no output for 11 m" };
  expect(foresee(verdict, { guardDeferred: true, dueAt: 12 * MINUTE }, 11.9 * MINUTE)).toMatchObject({
    reason: "stops in 6 s: stalled: no output for 11 m",
  });
});

test("[ID12] without a cap there is no time to it", () => {
  expect(foresee({ keep: true }, {}, MINUTE, { ...limits, maxIdleMs: 0 }).capInMs).toBeNull();
});
