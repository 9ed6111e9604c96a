// After a gap, is exactly what was missed filled in?
import { expect, test } from "bun:test";
import { createLogTail } from "../../src/core/log-gap.ts";
import type { LogEntry } from "../../src/protocol/plugin.ts";

const entry = (number: number): LogEntry => ({ level: "Print", body: `line ${number}`, timestamp: number });
const entries = (from: number, to: number): LogEntry[] =>
  Array.from({ length: to - from + 1 }, (_, index) => entry(from + index));

function tailOf(seen: readonly LogEntry[]) {
  const tail = createLogTail();
  for (const each of seen) tail.seen(each);
  return tail;
}

test("[RC3] what stands behind the last entry seen was missed", () => {
  expect(tailOf(entries(1, 30)).missed(entries(5, 34))).toEqual({ entries: entries(31, 34), complete: true });
});

test("[RC3] nothing new is nothing missed", () => {
  expect(tailOf(entries(1, 30)).missed(entries(1, 30))).toEqual({ entries: [], complete: true });
});

test("[RC3] who saw nothing yet missed the whole buffer", () => {
  expect(tailOf([]).missed(entries(1, 3))).toEqual({ entries: entries(1, 3), complete: true });
});

test("[RC3] a buffer that no longer reaches back is told as incomplete", () => {
  expect(tailOf(entries(1, 3)).missed(entries(10, 12))).toEqual({ entries: entries(10, 12), complete: false });
});

test("[RC3] a buffer that has dropped the older half of what was seen still meets its newer half", () => {
  expect(tailOf(entries(1, 20)).missed(entries(15, 23))).toEqual({ entries: entries(21, 23), complete: true });
});

test("[RC3] lines that repeat are told apart by those before them", () => {
  const same = (body: string): LogEntry => ({ level: "Print", body, timestamp: 1 });
  const seen = [same("a"), same("x"), same("x")];
  const buffer = [...seen, same("x"), same("b")];
  expect(tailOf(seen).missed(buffer).entries).toEqual([same("x"), same("b")]);
});

test("[RC3] an empty buffer after something was seen is not called a loss", () => {
  expect(tailOf(entries(1, 3)).missed([])).toEqual({ entries: [], complete: true });
});
