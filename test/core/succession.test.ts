// Does everybody in line know its place, and hear only of changes?
import { expect, test } from "bun:test";
import { EMPTY_LINE, enter, leave } from "../../src/core/succession.ts";

const lineOf = (...ids: string[]) => ids.reduce((line, id) => enter(line, id).line, EMPTY_LINE);

test("[TK8] places are given in order of arrival, and only the newcomer is told", () => {
  const first = enter(EMPTY_LINE, "a");
  expect(first.tell).toEqual([{ clientId: "a", rank: 0 }]);
  expect(enter(first.line, "b").tell).toEqual([{ clientId: "b", rank: 1 }]);
});

test("[TK8] who leaves moves up those behind, and only they are told", () => {
  const { line, tell } = leave(lineOf("a", "b", "c", "d"), "b");
  expect(tell).toEqual([
    { clientId: "c", rank: 1 },
    { clientId: "d", rank: 2 },
  ]);
  expect([...line.ranks]).toEqual([
    ["a", 0],
    ["c", 1],
    ["d", 2],
  ]);
});

test("[TK8] entering twice and leaving what never stood there change nothing", () => {
  const line = lineOf("a");
  expect(enter(line, "a")).toEqual({ line, tell: [] });
  expect(leave(line, "x")).toEqual({ line, tell: [] });
});

test("[TK8] ranks stay without gaps, whoever comes and goes", () => {
  const { line } = leave(lineOf("a", "b", "c"), "a");
  const after = enter(line, "a").line;
  expect([...after.ranks.values()].toSorted()).toEqual([0, 1, 2]);
  expect(after.ranks.get("a")).toBe(2);
});
