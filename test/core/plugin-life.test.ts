// Does a plugin wait and search as it should, crash or not?
import { expect, test } from "bun:test";
import {
  backoffMs,
  FOREIGN_BACKOFF,
  firstSearch,
  nextLife,
  OUR_BACKOFF,
  type PluginLife,
  type PluginOutcome,
} from "../../src/core/plugin-life.ts";

const walk = (start: PluginLife, ...outcomes: PluginOutcome[]): PluginLife =>
  outcomes.reduce((life, outcome) => nextLife(life, outcome, FOREIGN_BACKOFF), start);

const connected: PluginLife = { state: "connected" };
const crash: PluginOutcome = { kind: "lost", graceful: false };
const again: PluginOutcome[] = [{ kind: "waited" }, { kind: "healthy" }, { kind: "turned-away" }];

test("[RC1] the backoff is 1, 2, 4, 8, 16, 30 s and stays there", () => {
  const waits = Array.from({ length: 8 }, (_, attempt) => backoffMs(attempt, FOREIGN_BACKOFF));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(0, OUR_BACKOFF)).toBe(50);
});

test("[RC1] a crash waits first, each further failure longer", () => {
  expect(walk(connected, crash)).toEqual({ state: "reconnecting", attempt: 0, ms: 1_000 });
  expect(walk(connected, crash, ...again)).toEqual({ state: "reconnecting", attempt: 1, ms: 2_000 });
  expect(walk(connected, crash, ...again, ...again)).toEqual({ state: "reconnecting", attempt: 2, ms: 4_000 });
});

test("[RC1] a graceful end goes straight to searching", () => {
  expect(walk(connected, { kind: "lost", graceful: true })).toEqual(firstSearch());
});

test("[RC1] losing a host that is only just greeted counts as a failure too, unless it left gracefully", () => {
  const connecting: PluginLife = { state: "connecting", attempt: 2 };
  expect(walk(connecting, crash)).toEqual({ state: "reconnecting", attempt: 3, ms: 8_000 });
  expect(walk(connecting, { kind: "lost", graceful: true })).toMatchObject({ state: "searching", poll: 0, ms: 0 });
});

test("[RC2] searching looks at the moments 0, 50, 100, 200 and 400 ms, and then every 2 s", () => {
  const waits: number[] = [];
  let life = firstSearch();
  for (let poll = 0; poll < 8; poll++) {
    if (life.state === "searching") waits.push(life.ms);
    life = walk(life, { kind: "unhealthy" });
  }
  expect(waits).toEqual([0, 50, 50, 100, 200, 2_000, 2_000, 2_000]);
});

test("[RC2] health, then welcome, make it connected, and the backoff starts anew", () => {
  const back = walk(
    connected,
    crash,
    ...again,
    ...again,
    { kind: "waited" },
    { kind: "healthy" },
    { kind: "welcomed" },
  );
  expect(back).toEqual(connected);
  expect(walk(back, crash)).toEqual({ state: "reconnecting", attempt: 0, ms: 1_000 });
});

test("[RC2] impossible pairs throw", () => {
  expect(() => walk(connected, { kind: "healthy" })).toThrow('A plugin cannot go from "connected" by "healthy"');
  expect(() => walk(firstSearch(), { kind: "welcomed" })).toThrow("cannot go");
  expect(() => walk({ state: "reconnecting", attempt: 0, ms: 1 }, crash)).toThrow("cannot go");
  expect(() => walk({ state: "connecting", attempt: 0 }, { kind: "waited" })).toThrow("cannot go");
});
