// Does a takeover wait, bind and join exactly as often and as long as it should?
import { describe, expect, test } from "bun:test";
import {
  computeTakeoverJitterMs,
  hasWork,
  next,
  START_ROUNDS,
  TAKEOVER_ROUNDS,
  type Takeover,
  type TakeoverOutcome,
  takeoverAfterLoss,
  takeoverAtStart,
} from "../../src/core/takeover.ts";
import { createDice } from "../support/dice.ts";

const never = (): number => {
  throw new Error("No randomness here");
};
const error = new Error("EACCES");

/** Walks from a start with answers for bind and join; returns the end and every wait. */
function walk(start: Takeover, bind: TakeoverOutcome, join: TakeoverOutcome, maxRounds: number) {
  const waits: number[] = [];
  let binds = 0;
  let takeover = start;
  while (hasWork(takeover)) {
    if (takeover.state === "waiting") waits.push(takeover.ms);
    if (takeover.state === "binding") binds++;
    const outcome: TakeoverOutcome =
      takeover.state === "waiting" ? { kind: "waited" } : takeover.state === "binding" ? bind : join;
    takeover = next(takeover, outcome, maxRounds);
  }
  return { end: takeover, waits, binds };
}

describe("jitter", () => {
  test("[TK2] a graceful end has no jitter and throws no dice", () => {
    expect(computeTakeoverJitterMs({ graceful: true, random: never })).toBe(0);
    expect(takeoverAfterLoss({ graceful: true, rank: undefined, random: never })).toEqual({
      state: "binding",
      round: 0,
      rung: 0,
    });
  });

  test("[TK2] after a crash it is uniform in [0, 500] ms", () => {
    const { roll } = createDice(7);
    const values = Array.from({ length: 10_000 }, () => computeTakeoverJitterMs({ graceful: false, random: roll }));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThanOrEqual(500);
    for (let fifth = 0; fifth < 5; fifth++) {
      const share = values.filter((ms) => ms >= fifth * 100 && ms < (fifth + 1) * 100).length;
      expect(share).toBeWithin(1_850, 2_150);
    }
    expect(computeTakeoverJitterMs({ graceful: false, random: () => 1 })).toBe(500);
    expect(computeTakeoverJitterMs({ graceful: false, random: () => 0 })).toBe(0);
  });

  test("[TK2] without a rank a crash is followed by the jitter", () => {
    const start = takeoverAfterLoss({ graceful: false, rank: undefined, random: () => 0.5 });
    expect(start).toEqual({ state: "waiting", round: 0, rung: 0, ms: 250 });
  });
});

describe("succession", () => {
  test("[TK8] a known rank waits rank times 25 ms, at most 500, and throws no dice", () => {
    const waits = [0, 1, 2, 7, 19, 20, 21, 400].map((rank) => {
      const start = takeoverAfterLoss({ graceful: false, rank, random: never });
      return start.state === "waiting" ? start.ms : 0;
    });
    expect(waits).toEqual([0, 25, 50, 175, 475, 500, 500, 500]);
  });

  test("[TK8] a graceful end lets every rank bind at once", () => {
    expect(takeoverAfterLoss({ graceful: true, rank: 12, random: never }).state).toBe("binding");
  });
});

describe("rounds", () => {
  test("[TK3] bind succeeds: hosting", () => {
    expect(next(takeoverAtStart(), { kind: "bound" }, TAKEOVER_ROUNDS)).toEqual({ state: "hosting" });
  });

  test("[TK4] the port is taken and its holder takes us: joined", () => {
    const { end, waits } = walk(takeoverAtStart(), { kind: "taken" }, { kind: "joined" }, TAKEOVER_ROUNDS);
    expect(end).toEqual({ state: "joined" });
    expect(waits).toEqual([]);
  });

  test("[TK4] a closing host is tried again up the quick ladder", () => {
    const { waits } = walk(takeoverAtStart(), { kind: "taken" }, { kind: "closing" }, 1);
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128]);
  });

  test("[TK5] nobody answers: ten rounds a second apart, then stranded", () => {
    const { end, waits, binds } = walk(takeoverAtStart(), { kind: "taken" }, { kind: "silent" }, TAKEOVER_ROUNDS);
    expect(TAKEOVER_ROUNDS).toBe(10);
    expect(end).toEqual({ state: "stranded", rounds: 10 });
    expect(binds).toBe(10);
    expect(waits).toEqual(Array<number>(9).fill(1_000));
  });

  test("[TK6] any other bind error ends it at once, whatever the round", () => {
    for (const round of [0, 5]) {
      const failed = next({ state: "binding", round, rung: 0 }, { kind: "bind-failed", code: "EACCES", error }, 10);
      expect(failed).toEqual({ state: "failed", code: "EACCES", error });
      expect(hasWork(failed)).toBe(false);
    }
  });

  test("[TK7] a host that does not start is tried again in the next round", () => {
    const start: Takeover = { state: "binding", round: 3, rung: 2 };
    const waiting = next(start, { kind: "start-failed" }, TAKEOVER_ROUNDS);
    expect(waiting).toEqual({ state: "waiting", round: 4, rung: 0, ms: 1_000 });
    expect(next(waiting, { kind: "waited" }, TAKEOVER_ROUNDS)).toEqual({ state: "binding", round: 4, rung: 0 });
    const { end, binds } = walk(takeoverAtStart(), { kind: "start-failed" }, { kind: "joined" }, TAKEOVER_ROUNDS);
    expect(end).toEqual({ state: "stranded", rounds: 10 });
    expect(binds).toBe(10);
  });

  test("[TK9] a refused connection climbs the ladder 2, 4, 8 … 128 ms in the first round only", () => {
    const { end, waits, binds } = walk(takeoverAtStart(), { kind: "taken" }, { kind: "refused" }, TAKEOVER_ROUNDS);
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, ...Array<number>(9).fill(1_000)]);
    expect(binds).toBe(8 + 9);
    expect(end).toEqual({ state: "stranded", rounds: 10 });
  });

  test("[HO5] at a start: the ladder, then three tries a second apart", () => {
    const { waits, end } = walk(takeoverAtStart(), { kind: "taken" }, { kind: "refused" }, START_ROUNDS);
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 1_000, 1_000, 1_000]);
    expect(end).toEqual({ state: "stranded", rounds: 4 });
  });
});

test("[TK3] impossible pairs throw instead of going anywhere", () => {
  const outcomes: TakeoverOutcome[] = [
    { kind: "waited" },
    { kind: "bound" },
    { kind: "taken" },
    { kind: "start-failed" },
    { kind: "bind-failed", code: "EACCES", error },
    { kind: "joined" },
    { kind: "closing" },
    { kind: "refused" },
    { kind: "silent" },
  ];
  const possible: Record<Takeover["state"], readonly TakeoverOutcome["kind"][]> = {
    waiting: ["waited"],
    binding: ["bound", "taken", "start-failed", "bind-failed"],
    joining: ["joined", "closing", "refused", "silent"],
    hosting: [],
    joined: [],
    stranded: [],
    failed: [],
  };
  const step = { round: 0, rung: 0 };
  const states: Takeover[] = [
    { state: "waiting", ms: 1, ...step },
    { state: "binding", ...step },
    { state: "joining", ...step },
    { state: "hosting" },
    { state: "joined" },
    { state: "stranded", rounds: 10 },
    { state: "failed", code: "EACCES", error },
  ];
  for (const takeover of states) {
    for (const outcome of outcomes) {
      const go = () => next(takeover, outcome, TAKEOVER_ROUNDS);
      if (possible[takeover.state].includes(outcome.kind)) expect(go).not.toThrow();
      else expect(go).toThrow(`Takeover cannot go from "${takeover.state}" by "${outcome.kind}"`);
    }
  }
});
