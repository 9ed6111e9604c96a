// Is the line that a message names the right one?
import { expect, test } from "bun:test";
import { lineOf } from "../../src/core/json-line.ts";

const TEXT = `{
  "one": 1,
  "two": { "x": "}\\"", "three": [
    { "deep": true },
    { "deep": false,
      "name": "n" }
  ] },
  "last": null
}`;

test("a key is found on its own line, at any depth", () => {
  expect(lineOf(TEXT, ["one"])).toBe(2);
  expect(lineOf(TEXT, ["two"])).toBe(3);
  expect(lineOf(TEXT, ["two", "three"])).toBe(3);
  expect(lineOf(TEXT, ["two", "three", 1, "name"])).toBe(6);
  expect(lineOf(TEXT, ["two", "three", 1, "deep"])).toBe(5);
  expect(lineOf(TEXT, ["last"])).toBe(8);
});

test("where the path ends before the text does, the deepest part that is there is named", () => {
  expect(lineOf(TEXT, ["two", "three", 1, "missing"])).toBe(5);
  expect(lineOf(TEXT, ["missing"])).toBe(1);
  expect(lineOf(TEXT, [])).toBe(1);
});

test("broken text has a line too", () => {
  expect(lineOf("", ["x"])).toBe(1);
  expect(lineOf('{ "x', ["x"])).toBe(1);
});
