// Which journals go? The old ones, then the oldest while there is too much, and never one in use.
import { describe, expect, test } from "bun:test";
import { type Kept, retentionOf, toPrune } from "../../src/core/prune.ts";

const DAY = 24 * 3_600_000;
const NOW = 100 * DAY;
const journal = (name: string, ageDays: number, bytes: number): Kept => ({
  name,
  bytes,
  modifiedAt: NOW - ageDays * DAY,
});
const names = (all: readonly Kept[], limits = retentionOf({}), inUse: readonly string[] = []): string[] =>
  toPrune(all, limits, new Set(inUse), NOW).map(({ name }) => name);

describe("retention", () => {
  test("[SE3] is 30 days and 1 GiB in all", () => {
    expect(retentionOf({})).toEqual({ maxAgeMs: 30 * DAY, maxBytes: 1024 ** 3 });
  });

  test("[CM6] [SE3] the config file may say otherwise, each number by itself, and 0 is a number", () => {
    expect(retentionOf({ JOURNAL_MAX_AGE_MS: 5 })).toEqual({ maxAgeMs: 5, maxBytes: 1024 ** 3 });
    expect(retentionOf({ JOURNAL_MAX_BYTES: 0 })).toEqual({ maxAgeMs: 30 * DAY, maxBytes: 0 });
  });

  test("[SE3] older than the limit goes; at exactly the limit it stays", () => {
    expect(names([journal("old", 30.001, 1), journal("edge", 30, 1), journal("new", 0, 1)])).toEqual(["old"]);
  });

  test("[SE3] above the size the oldest go first, and no more than needed", () => {
    const all = [journal("b", 2, 400), journal("a", 3, 400), journal("c", 1, 400)];
    expect(names(all, { maxAgeMs: 30 * DAY, maxBytes: 800 })).toEqual(["a"]);
    expect(names(all, { maxAgeMs: 30 * DAY, maxBytes: 1_200 })).toEqual([]);
    expect(names(all, { maxAgeMs: 30 * DAY, maxBytes: 0 })).toEqual(["a", "b", "c"]);
  });

  test("[SE3] what is too old makes room before anything else is removed for its size", () => {
    const all = [journal("old", 40, 500), journal("a", 3, 400), journal("b", 2, 400)];
    expect(names(all, { maxAgeMs: 30 * DAY, maxBytes: 800 })).toEqual(["old"]);
  });

  test("[SE3] a journal in use stays, however old or large, and counts in the sum", () => {
    const all = [journal("used", 90, 900), journal("a", 3, 100), journal("b", 2, 100)];
    expect(names(all, { maxAgeMs: 30 * DAY, maxBytes: 1_000 }, ["used"])).toEqual(["a"]);
  });
});
