// Which browser is next? Who is tried, who is active, who stands by, and who has had its turn.
import { describe, expect, test } from "bun:test";
import {
  answered,
  began,
  failed,
  forgiven,
  freshPool,
  localEndpoints,
  lostActive,
  lostStandby,
  mayStandBy,
  nextStartIndex,
  type Pool,
  parseEndpoints,
  whenFailed,
  whenNeeded,
  whenSlow,
} from "../../src/core/endpoints.ts";

const anyone = (): boolean => true;
const noone = (): boolean => false;
const start = (pool: Pool, ...indices: number[]): Pool => indices.reduce(began, pool);

describe("the list", () => {
  test("[BR1] http, https, ws and wss are endpoints; anything else is a configuration error that does not show the URL", () => {
    const urls = ["http://a:1", "https://b", "ws://c/x", "wss://d/y?token=1"];
    expect(parseEndpoints(urls).map((each) => each.kind === "cdp" && each.url)).toEqual(urls);
    for (const wrong of ["ftp://a", "a:b", "9222", "http//secret-token", "http://", ""]) {
      expect(() => parseEndpoints(["http://a", wrong])).toThrow(/CDP endpoint 2 .*; give http:\/\//);
    }
    expect(() => parseEndpoints(["http//secret-token"])).not.toThrow(/secret-token/);
  });

  test("[BR1] a browser of our own is launched again at most three times", () => {
    expect(localEndpoints()).toHaveLength(4);
  });

  test("[BR4] http and loopback stand by for nothing, others only when asked, our own never by themselves", () => {
    const [plain, remote, loop, tls, six] = parseEndpoints([
      "http://far.example",
      "wss://far.example",
      "ws://127.0.0.1:9",
      "https://far.example",
      "ws://[::1]:9",
    ]);
    const may = [plain, remote, loop, tls, six].map((each) => each && mayStandBy(each, undefined));
    expect(may).toEqual([true, false, true, false, true]);
    expect([remote, tls].map((each) => each && mayStandBy(each, true))).toEqual([true, true]);
    expect(plain && mayStandBy(plain, false)).toBe(false);
    const [own] = localEndpoints();
    expect(own && mayStandBy(own, undefined)).toBe(false);
  });
});

describe("the pool", () => {
  test("[BR2] each is tried once, in order, and then they are used up", () => {
    let pool = freshPool(2);
    expect(whenNeeded(pool)).toEqual({ kind: "try", index: 0 });
    expect(nextStartIndex(pool, 2)).toBe(0);
    pool = start(pool, 0);
    expect(whenNeeded(pool)).toEqual({ kind: "wait" });
    ({ pool } = failed(pool, 0));
    expect(whenNeeded(pool)).toEqual({ kind: "try", index: 1 });
    expect(nextStartIndex(pool, 2)).toBe(1);
    ({ pool } = failed(start(pool, 1), 1));
    expect(whenNeeded(pool)).toEqual({ kind: "exhausted" });
    expect(nextStartIndex(pool, 2)).toBe(2);
  });

  test("[BR2] one that was active and is lost is never tried again", () => {
    const { pool } = answered(start(freshPool(1), 0), 0);
    expect(whenNeeded(lostActive(pool))).toEqual({ kind: "exhausted" });
  });

  test("[BR4] whoever fails beside slow ones is replaced; where nobody is slow, or somebody has answered, it waits", () => {
    const pool = start(freshPool(3), 0);
    expect(whenFailed(pool, new Set([0]), anyone)).toEqual({ kind: "try", index: 1 });
    expect(whenFailed(pool, new Set([0]), noone)).toEqual({ kind: "wait" });
    expect(whenFailed(pool, new Set(), anyone)).toEqual({ kind: "wait" });
    expect(whenFailed(start(pool, 1), new Set([0]), anyone)).toEqual({ kind: "wait" });
    expect(whenFailed(freshPool(3), new Set([0]), anyone)).toEqual({ kind: "wait" });
    expect(whenFailed(answered(start(pool, 1), 1).pool, new Set([0]), anyone)).toEqual({ kind: "wait" });
  });

  test("[BR4] the next is started beside a slow one; the first to answer is active, the second stands by", () => {
    let pool = start(freshPool(3), 0);
    expect(whenSlow(pool, noone)).toEqual({ kind: "wait" });
    expect(whenSlow(pool, anyone)).toEqual({ kind: "try", index: 1 });
    pool = start(pool, 1);
    const first = answered(pool, 1);
    expect(first.place).toBe("active");
    const second = answered(first.pool, 0);
    expect(second.place).toBe("standby");
    expect(whenSlow(second.pool, anyone)).toEqual({ kind: "wait" });
    expect(lostActive(second.pool)).toMatchObject({ active: 0, standby: undefined });
  });

  test("[BR4] one more than that goes back to the front of the unused list", () => {
    let { pool } = answered(start(freshPool(4), 0, 1, 2), 0);
    ({ pool } = answered(pool, 1));
    const third = answered(pool, 2);
    expect(third.place).toBe("surplus");
    expect(third.pool.unused).toEqual([2, 3]);
  });

  test("[BR4] with one active the next is started as standby, one at a time", () => {
    const { pool } = answered(start(freshPool(3), 0), 0);
    expect(whenSlow(pool, anyone)).toEqual({ kind: "try", index: 1 });
    expect(whenSlow(start(pool, 1), anyone)).toEqual({ kind: "wait" });
  });

  test("[BR4] one that fails while nobody needs it keeps its turn for when it is needed", () => {
    let { pool } = answered(start(freshPool(2), 0), 0);
    const result = failed(start(pool, 1), 1);
    expect(result.spent).toBe(false);
    pool = result.pool;
    expect(whenSlow(pool, anyone)).toEqual({ kind: "wait" });
    expect(whenNeeded(lostActive(pool))).toEqual({ kind: "try", index: 1 });
    expect(whenSlow(forgiven(pool), anyone)).toEqual({ kind: "try", index: 1 });
  });

  test("[BR4] a standby that dies unused is replaced by the next", () => {
    let { pool } = answered(start(freshPool(3), 0), 0);
    ({ pool } = answered(start(pool, 1), 1));
    expect(whenSlow(lostStandby(pool), anyone)).toEqual({ kind: "try", index: 2 });
  });

  test("[BR4] a standby that was started anew is not spent: it is tried when it is needed, and after a while again", () => {
    let { pool } = answered(start(freshPool(2), 0), 0);
    ({ pool } = answered(start(pool, 1), 1));
    pool = lostStandby(pool);
    expect(whenSlow(pool, anyone)).toEqual({ kind: "wait" });
    expect(whenSlow(forgiven(pool), anyone)).toEqual({ kind: "try", index: 1 });
    expect(whenNeeded(lostActive(pool))).toEqual({ kind: "try", index: 1 });
  });
});
