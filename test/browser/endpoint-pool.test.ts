// Who becomes the browser, and when? The pool in virtual time, with endpoints that answer as the test says.
import { describe, expect, test } from "bun:test";
import { createEndpointPool, type EndpointPool } from "../../src/browser/endpoint-pool.ts";
import { startHeartbeat } from "../../src/browser/heartbeat.ts";
import type { Link } from "../../src/browser/link.ts";
import { giveUpAfter, race } from "../../src/browser/race.ts";
import { think } from "../../src/browser/think.ts";
import { type Endpoint, parseEndpoints } from "../../src/core/endpoints.ts";
import type { Clock } from "../../src/platform/world.ts";
import { createVirtualTime, type VirtualTime } from "../support/virtual-time.ts";

const clockOf = (time: VirtualTime): Clock => ({
  now: () => time.now,
  elapsed: () => time.now,
  iso: () => "",
  since: () => 0,
  after: (ms, run) => time.plan(ms, run),
  sleep: (ms) => new Promise((resolve) => void time.plan(ms, resolve)),
});

interface Fake {
  link: Link;
  lose(): void;
  ended: boolean;
}

/** `[answers after, ready after]` in ms; a negative one fails after so long. */
function stage(ways: readonly (readonly [number, number] | number)[], standby?: boolean) {
  const time = createVirtualTime();
  const started: [number, number][] = [];
  const cycles: number[] = [];
  const fakes: Fake[] = [];
  const connect = (endpoint: Endpoint, answers: () => void): Promise<Link> => {
    started.push([endpoint.index, time.now]);
    const way = ways[endpoint.index] ?? -1;
    const [answersMs, readyMs] = typeof way === "number" ? [way, way] : way;
    if (readyMs < 0)
      return new Promise((_, reject) => void time.plan(-readyMs, () => reject(new Error(`failed ${endpoint.index}`))));
    const lost = new AbortController();
    const fake: Fake = {
      ended: false,
      lose: () => lost.abort(new Error("lost")),
      link: {
        endpoint,
        lost: lost.signal,
        end: async () => {
          fake.ended = true;
        },
      } as unknown as Link,
    };
    fakes[endpoint.index] = fake;
    time.plan(answersMs, answers);
    return new Promise((resolve) => void time.plan(readyMs, () => resolve(fake.link)));
  };
  const pool: EndpointPool = createEndpointPool({
    clock: clockOf(time),
    endpoints: parseEndpoints(ways.map((_, index) => `http://127.0.0.1:${index + 1}`)),
    standby,
    connect,
    cycled: ({ attempt }) => cycles.push(attempt),
  });
  return { time, pool, started, cycles, fakes, start: () => time.wait(pool.start()).endpoint.index };
}

describe("the pool", () => {
  test("[BR4] one that does not answer in 300 ms gets the next beside it; the first that is ready is active", () => {
    const { start, started, cycles, time } = stage([-5_000, 50]);
    expect(start()).toBe(1);
    expect(started).toEqual([
      [0, 0],
      [1, 300],
    ]);
    expect(time.now).toBe(350);
    expect(cycles).toEqual([]);
  });

  test("[BR3] [BR4] one that fails beside a slow one is replaced at once; beside one that still has its time, it is not", () => {
    const { start, started, time } = stage([-5_000, -5, -5, 50]);
    expect(start()).toBe(3);
    expect(started).toEqual([
      [0, 0],
      [1, 300],
      [2, 305],
      [3, 310],
    ]);
    expect(time.now).toBe(360);
    const late = stage([-310, 200, 50]);
    expect(late.start()).toBe(1);
    expect(late.started).toEqual([
      [0, 0],
      [1, 300],
    ]);
  });

  test("[BR4] one that has answered and takes its time to be ready is waited for", () => {
    const { start, started } = stage([[100, 900], 50]);
    expect(start()).toBe(0);
    expect(started).toEqual([[0, 0]]);
    const stuck = stage([[100, 9_000], 50]);
    expect(stuck.start()).toBe(1);
    expect(stuck.time.now).toBe(1_550);
  });

  test("[BR4] 300 ms after the active one the next is connected as standby, and takes over at once", () => {
    const { start, started, pool, time, fakes } = stage([50, 50, 50]);
    expect(start()).toBe(0);
    time.advance(1_000);
    expect(started.map(([index]) => index)).toEqual([0, 1]);
    expect(pool.nextStartIndex).toBe(2);
    const lostAt = time.now;
    pool.leave();
    expect(fakes[0]?.ended).toBe(true);
    expect(start()).toBe(1);
    expect(time.now).toBe(lostAt);
    time.advance(1_000);
    expect(started.map(([index]) => index)).toEqual([0, 1, 2]);
  });

  test("[BR4] --no-standby: one after the other, and only when needed", () => {
    const { start, started, cycles, time } = stage([-2_000, 50, 50], false);
    expect(start()).toBe(1);
    expect(time.now).toBe(2_050);
    time.advance(10_000);
    expect(started.map(([index]) => index)).toEqual([0, 1]);
    expect(cycles).toEqual([1]);
  });

  test("[BR4] a third that answers too is closed and is the next in line again", () => {
    const { start, started, time, fakes, pool } = stage([[2_000, 2_000], [1_700, 1_700], 1_500]);
    expect(start()).toBe(0);
    time.advance(2_000);
    expect(started).toEqual([
      [0, 0],
      [1, 300],
      [2, 600],
    ]);
    expect(fakes.map(({ ended }) => ended)).toEqual([false, false, true]);
    expect(pool.nextStartIndex).toBe(2);
  });

  test("[BR4] a standby that fails keeps its turn, is tried again after a while, and is used when needed", () => {
    const { start, started, cycles, time, pool } = stage([50, -10]);
    expect(start()).toBe(0);
    time.advance(2_000);
    expect(started.map(([index]) => index)).toEqual([0, 1]);
    time.advance(5_000);
    expect(started.map(([index]) => index)).toEqual([0, 1, 1]);
    expect(cycles).toEqual([]);
    pool.leave();
    expect(() => time.wait(pool.start())).toThrow("All 2 browser endpoints are used up, the last: failed 1");
    expect(cycles).toEqual([2]);
  });

  test("[BR2] all used up is told at once, with what the last one said", () => {
    const { pool, time, cycles } = stage([-10, -10], false);
    expect(() => time.wait(pool.start())).toThrow("failed 1");
    expect(cycles).toEqual([1, 2]);
    expect(time.now).toBe(20);
  });

  test("[BR8] in the end everything that was opened is closed, the standby too", () => {
    const { start, pool, time, fakes } = stage([50, 50]);
    start();
    time.advance(1_000);
    time.wait(pool.end());
    expect(fakes.map(({ ended }) => ended)).toEqual([true, true]);
  });
});

describe("bounds", () => {
  const never = new Promise<never>(() => {});

  test("[BR5] [BR7] a call ends with its result, a loss, its deadline or an abort, whichever is first", async () => {
    const time = createVirtualTime();
    const clock = clockOf(time);
    const lost = new AbortController();
    const bounds = { clock, ms: 10_000, late: () => new Error("late"), signals: [lost.signal] };
    expect(await race(Promise.resolve(1), bounds)).toBe(1);
    expect(() => time.wait(race(never, bounds))).toThrow("late");
    expect(time.now).toBe(10_000);
    const waiting = race(never, bounds);
    lost.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    await expect(race(Promise.reject(new Error("too late to matter")), bounds)).rejects.toThrow("gone");
  });

  test("[BR7] closing is given up after its time, and its failure is nobody's", () => {
    const time = createVirtualTime();
    time.wait(giveUpAfter(clockOf(time), 2_000, never));
    expect(time.now).toBe(2_000);
    time.wait(giveUpAfter(clockOf(time), 2_000, Promise.reject(new Error("closed already"))));
    expect(time.now).toBe(2_000);
  });

  test("[BR5] a brain that thinks is cancelled when the browser is lost, and the loss is what came of it", async () => {
    const lost = new AbortController();
    let cancelled: unknown;
    const thinking = think(lost.signal, new AbortController().signal, (signal) => {
      signal.addEventListener("abort", () => {
        cancelled = signal.reason;
      });
      return never;
    });
    const gone = new Error("gone");
    lost.abort(gone);
    await expect(thinking).rejects.toBe(gone);
    expect(cancelled).toBe(gone);
  });

  test("[BR5] a browser that stops answering is frozen two seconds after its last answer; one that is slow is not", () => {
    const time = createVirtualTime();
    let answersMs: number | undefined = 1_400;
    let frozenAt: number | undefined;
    const stop = startHeartbeat({
      clock: clockOf(time),
      beat: () =>
        answersMs === undefined ? never : new Promise((resolve) => void time.plan(answersMs ?? 0, () => resolve(0))),
      frozen() {
        frozenAt = time.now;
      },
    });
    time.advance(20_000);
    expect(frozenAt).toBeUndefined();
    answersMs = undefined;
    time.advance(5_000);
    expect(frozenAt).toBeLessThanOrEqual(20_000 + 2_500 + 1_400);
    expect(frozenAt).toBeGreaterThanOrEqual(20_000 + 1_500);
    stop();
  });
});
