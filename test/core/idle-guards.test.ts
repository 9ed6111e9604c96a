// Does each guard keep what it should, and nothing else?
import { describe, expect, test } from "bun:test";
import { checkIdle, IDLE_RECHECK_MS } from "../../src/core/idle.ts";
import {
  createActiveTurnGuard,
  createStalledGuard,
  type IdleState,
  permissionGuard,
  pinGuard,
  queueGuard,
  sessionGuards,
  toolCallGuard,
  withPin,
} from "../../src/core/idle-guards.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const limits = { idleTimeoutMs: 5 * MINUTE, maxIdleMs: 30 * MINUTE, staleOutputMs: 10 * MINUTE };
const NOTHING: IdleState = {
  outstanding: 0,
  turnStartedAt: 0,
  lastOutputAt: 0,
  queued: 0,
  permissions: 0,
  openToolCalls: 0,
  pin: undefined,
};
const state = (some: Partial<IdleState>): IdleState => ({ ...NOTHING, ...some });
const turn = createActiveTurnGuard(limits.staleOutputMs);
const stalled = createStalledGuard(limits.staleOutputMs);
const check = (some: Partial<IdleState>, idleMs: number, wasDeferred = false) =>
  checkIdle(0, wasDeferred, sessionGuards(limits.staleOutputMs), state(some), limits, idleMs);

test("nothing at all keeps nothing", () => {
  for (const guard of sessionGuards(limits.staleOutputMs)) {
    expect(guard.shouldKeepAlive(NOTHING, HOUR)).toEqual({ keep: false });
  }
});

describe("a turn", () => {
  test("[GD1] in progress keeps while its last output is recent, at exactly the limit too", () => {
    const working = state({ outstanding: 1, turnStartedAt: MINUTE, lastOutputAt: 2 * MINUTE });
    expect(turn.shouldKeepAlive(working, 2 * MINUTE + 4 * SECOND)).toEqual({
      keep: true,
      reason: "turn in progress, last output 4 s ago",
    });
    expect(turn.shouldKeepAlive(working, 12 * MINUTE).keep).toBe(true);
    expect(turn.shouldKeepAlive(working, 12 * MINUTE + 1).keep).toBe(false);
  });

  test("[GD1] that begins after 20 minutes of silence is judged by its own beginning", () => {
    const begun = state({ outstanding: 1, turnStartedAt: 20 * MINUTE, lastOutputAt: 0 });
    expect(turn.shouldKeepAlive(begun, 25 * MINUTE)).toEqual({
      keep: true,
      reason: "turn in progress, started 5 m ago",
    });
    expect(stalled.shouldKeepAlive(begun, 25 * MINUTE)).toEqual({ keep: false });
    expect(turn.shouldKeepAlive(begun, 30 * MINUTE + 1).keep).toBe(false);
  });

  test("[GD1] that is over keeps nothing, however recent its output", () => {
    expect(turn.shouldKeepAlive(state({ lastOutputAt: MINUTE }), MINUTE)).toEqual({ keep: false });
  });

  test("[GD2] that is silent for longer declines as stalled, without a grace", () => {
    const silent = state({ outstanding: 1, turnStartedAt: MINUTE, lastOutputAt: 2 * MINUTE });
    expect(stalled.shouldKeepAlive(silent, 13 * MINUTE)).toEqual({
      keep: false,
      reason: "stalled: no output for 11 m",
      grace: false,
    });
    expect(stalled.shouldKeepAlive(silent, 12 * MINUTE)).toEqual({ keep: false });
  });

  test("[GD2] that stalled is stopped at the next check, and never in the words of a finished one", () => {
    const silent = { outstanding: 1, lastOutputAt: 2 * MINUTE, keptBy: ["turn"] };
    const found = check(silent, 13 * MINUTE, true);
    expect(found).toEqual({ action: "kill", reason: "stalled: no output for 11 m" });
    expect(check({ ...silent, outstanding: 0 }, 13 * MINUTE, true)).toMatchObject({ reason: "grace after turn" });
  });

  test("[GD2] that stalled does not stop what something else keeps", () => {
    expect(check({ outstanding: 1, queued: 1 }, 13 * MINUTE)).toMatchObject({
      guardDeferred: true,
      reason: "1 prompt queued; stalled: no output for 13 m",
    });
  });
});

describe("what waits", () => {
  test("[GD3] queued prompts keep", () => {
    expect(queueGuard.shouldKeepAlive(state({ queued: 2 }), 0)).toEqual({ keep: true, reason: "2 prompts queued" });
    expect(queueGuard.shouldKeepAlive(state({ queued: 1 }), 0).reason).toBe("1 prompt queued");
  });

  test("[GD4] a request to a person keeps, although the turn is silent for hours", () => {
    const asking = state({ outstanding: 1, permissions: 1 });
    expect(permissionGuard.shouldKeepAlive(asking, 9 * HOUR)).toEqual({
      keep: true,
      reason: "1 permission request without an answer",
    });
    expect(check({ outstanding: 1, permissions: 1 }, 29 * MINUTE)).toMatchObject({ guardDeferred: true });
    expect(check({ outstanding: 1, permissions: 0 }, 29 * MINUTE)).toMatchObject({ action: "kill" });
  });

  test("[GD5] tool calls in progress keep after the turn, and say nothing during it", () => {
    expect(toolCallGuard.shouldKeepAlive(state({ openToolCalls: 1 }), 0)).toEqual({
      keep: true,
      reason: "1 tool call in progress after the turn",
    });
    expect(toolCallGuard.shouldKeepAlive(state({ openToolCalls: 1, outstanding: 1 }), 0)).toEqual({ keep: false });
    expect(check({ outstanding: 1, openToolCalls: 1 }, 13 * MINUTE)).toMatchObject({ action: "kill" });
  });
});

describe("a pin", () => {
  const pin = { until: 2 * HOUR, by: "keep" } as const;
  const forEver = { until: Number.POSITIVE_INFINITY, by: "keep" } as const;

  test("[GD6] keeps until its end, and is looked at again right after it", () => {
    expect(pinGuard.shouldKeepAlive(state({ pin }), HOUR + 40 * MINUTE)).toMatchObject({
      keep: true,
      reason: "pinned for 20 m",
    });
    const end = pinGuard.shouldKeepAlive(state({ pin }), 2 * HOUR - SECOND);
    expect(end).toMatchObject({ keep: true, recheckMs: SECOND + 1 });
    expect(pinGuard.shouldKeepAlive(state({ pin }), 2 * HOUR).keep).toBe(true);
    expect(pinGuard.shouldKeepAlive(state({ pin }), 2 * HOUR + 1)).toEqual({ keep: false });
  });

  test("[GD6] without an end keeps for ever", () => {
    const found = pinGuard.shouldKeepAlive(state({ pin: forEver }), 1_000 * HOUR);
    expect(found).toMatchObject({ keep: true, reason: "pinned" });
    expect(found.recheckMs).toBeGreaterThan(IDLE_RECHECK_MS);
    expect(found.recheckMs).toBeLessThanOrEqual(HOUR);
  });

  test("[GD6] of a prompt without anybody says so", () => {
    const detached = { until: 24 * HOUR, by: "detach" } as const;
    expect(pinGuard.shouldKeepAlive(state({ pin: detached }), 0).reason).toBe("pinned until its turn has ended");
  });

  test("[GD6] lifts the cap as far as it reaches, and no farther", () => {
    const start = 10 * MINUTE;
    expect(withPin(limits, start, pin, HOUR).maxIdleMs).toBe(2 * HOUR - start);
    expect(withPin(limits, start, forEver, HOUR).maxIdleMs).toBe(0);
    expect(withPin(limits, start, pin, 2 * HOUR + 1)).toEqual(limits);
    expect(withPin(limits, start, undefined, HOUR)).toEqual(limits);
  });

  test("[GD6] never lowers the cap, nor sets one where there is none", () => {
    const short = { until: 12 * MINUTE, by: "keep" } as const;
    expect(withPin(limits, 10 * MINUTE, short, 11 * MINUTE)).toEqual(limits);
    const uncapped = { ...limits, maxIdleMs: 0 };
    expect(withPin(uncapped, 0, pin, HOUR)).toEqual(uncapped);
  });

  test("[GD6] past the cap it keeps, and when it is over the cap stops", () => {
    const at = (now: number) => checkIdle(0, true, sessionGuards(0), state({ pin }), withPin(limits, 0, pin, now), now);
    expect(at(HOUR)).toMatchObject({ action: "recheck", guardDeferred: true });
    expect(at(2 * HOUR)).toMatchObject({ action: "recheck", delayMs: 1 });
    expect(at(2 * HOUR + 1)).toMatchObject({ action: "kill" });
  });
});
