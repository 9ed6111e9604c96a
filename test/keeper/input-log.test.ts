// Is it known for ever what an agent was given? Each key once, its doubt until the mark, and the rest behind an offset.
import { expect, test } from "bun:test";
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { openInputLog, readInputs } from "../../src/keeper/input-log.ts";
import { systemFiles } from "../../src/platform/files.ts";
import { createDice } from "../support/dice.ts";
import { createTempDir } from "../support/temp-dir.ts";

const line = (key: string): string => JSON.stringify({ id: key, text: "ä\u2028€" });
const input = (key: string) => ({ key, line: line(key) });

test("[KP3] a key is known from its record on, and in doubt until its mark, also after a restart", () => {
  using directory = createTempDir();
  const path = directory.at("in.log");
  const log = openInputLog(systemFiles.journal(path));
  log.record(input("a"));
  expect([log.has("a"), log.unsure, log.isUnsure("a")]).toEqual([true, [input("a")], true]);
  log.mark("a");
  log.record(input("b"));
  const again = openInputLog(systemFiles.journal(path));
  for (const each of [log, again]) {
    expect([each.has("a"), each.has("b"), each.has("c"), each.unsure]).toEqual([true, true, false, [input("b")]]);
    expect([each.isUnsure("a"), each.isUnsure("b")]).toEqual([false, true]);
    expect(each.end).toBe(statSync(path).size);
  }
});

test("[KP4] what was recorded behind an offset is read back, and marks are no input", () => {
  using directory = createTempDir();
  const path = directory.at("in.log");
  const log = openInputLog(systemFiles.journal(path));
  log.record(input("a"));
  log.mark("a");
  const { end } = log;
  log.record(input("b"));
  log.record(input("c"));
  log.mark("b");
  expect(readInputs(systemFiles, path, end)).toEqual([input("b"), input("c")]);
  expect(readInputs(systemFiles, path, 0)).toHaveLength(3);
  expect(readInputs(systemFiles, path, log.end)).toEqual([]);
  expect(readInputs(systemFiles, directory.at("nothing"), 0)).toEqual([]);
});

test("[KP3] cut anywhere by a crash: whole records stay, the torn one never was", () => {
  for (let seed = 1; seed <= 40; seed++) {
    using directory = createTempDir();
    const path = directory.at("in.log");
    const log = openInputLog(systemFiles.journal(path));
    const ends: number[] = [];
    for (const key of ["a", "b", "c", "d"]) {
      log.record(input(key));
      ends.push(log.end);
      log.mark(key);
    }
    const cut = createDice(seed).whole(0, log.end);
    truncateSync(path, cut);
    const again = openInputLog(systemFiles.journal(path));
    const known = ["a", "b", "c", "d"].filter((key) => again.has(key));
    expect({ seed, count: known.length }).toEqual({ seed, count: ends.filter((end) => end <= cut).length });
    expect(again.unsure.length).toBeLessThanOrEqual(1);
    again.record(input("z"));
    expect(readInputs(systemFiles, path, 0).map(({ key }) => key)).toEqual([...known, "z"]);
  }
});

test("[KP9] a hole in front, as it is left where room was given back, is passed over", () => {
  using directory = createTempDir();
  const path = directory.at("in.log");
  writeFileSync(path, `${"\0".repeat(9_000)}${JSON.stringify(input("a"))}\n${JSON.stringify({ done: "a" })}\n`, {
    mode: 0o600,
  });
  const log = openInputLog(systemFiles.journal(path));
  expect([log.has("a"), log.unsure]).toEqual([true, []]);
  expect(readInputs(systemFiles, path, 0)).toEqual([input("a")]);
});
