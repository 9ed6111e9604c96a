// Does the demo tell on itself? Whatever is lost, doubled or not replaced makes it fail.
import { expect, test } from "bun:test";
import { countRequests } from "../../../src/commands/demo/traffic.ts";
import { exitCodeFor, isWhole, type Played } from "../../../src/commands/demo/verdict.ts";

const GOOD: Played = {
  requests: { lost: 0, doubled: 0 },
  streamed: { lost: 0, doubled: 0 },
  stopReason: "end_turn",
  killedReason: "lost",
  restored: "still there? (turn 3)",
  browser: { success: true },
};
const exitCode = (change: Partial<Played>): number => exitCodeFor(isWhole({ ...GOOD, ...change }));

test("[CM3] a demo in which nothing is lost exits 0, also where there is no browser", () => {
  expect(exitCode({})).toBe(0);
  expect(exitCode({ browser: undefined })).toBe(0);
});

test("[CM3] a lost or a doubled line or request makes it exit 1, and one does not make up for the other", () => {
  for (const counts of [
    { lost: 1, doubled: 0 },
    { lost: 0, doubled: 1 },
    { lost: -1, doubled: 1 },
  ]) {
    expect({ counts, code: exitCode({ streamed: counts }) }).toEqual({ counts, code: 1 });
    expect({ counts, code: exitCode({ requests: counts }) }).toEqual({ counts, code: 1 });
  }
});

test("[CM3] a turn, a conversation or a web task that did not go on makes it exit 1", () => {
  expect(exitCode({ stopReason: "lost" })).toBe(1);
  expect(exitCode({ killedReason: "end_turn" })).toBe(1);
  expect(exitCode({ restored: "still there? (turn 1)" })).toBe(1);
  expect(exitCode({ browser: { success: false } })).toBe(1);
});

test("a request is lost when it was answered and never ran, doubled when it ran twice, and unknown is neither", () => {
  const count = (ran: number[]) => countRequests(new Set([1, 2]), new Set([3]), ran);
  expect(count([1, 2])).toEqual({ answered: 2, unknown: 1, lost: 0, doubled: 0 });
  expect(count([1, 2, 3])).toEqual({ answered: 2, unknown: 1, lost: 0, doubled: 0 });
  expect(count([1])).toMatchObject({ lost: 1, doubled: 0 });
  expect(count([1, 2, 2])).toMatchObject({ lost: 0, doubled: 1 });
});
