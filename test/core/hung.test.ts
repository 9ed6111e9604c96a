// Is a host called hung only when it hangs?
import { expect, test } from "bun:test";
import { freshWatch, judge, PING_EVERY_MS, type Watch } from "../../src/core/hung.ts";

const after = (...ticks: { lateMs: number; answered: boolean }[]): Watch => ticks.reduce(judge, freshWatch);
const missed = { lateMs: 0, answered: false };
const answered = { lateMs: 0, answered: true };

test("[TK10] the third unanswered ping in a row, 5 s apart, means hung", () => {
  expect(PING_EVERY_MS).toBe(5_000);
  expect(after(missed, missed)).toEqual({ state: "watching", unanswered: 2 });
  expect(after(missed, missed, missed)).toEqual({ state: "hung" });
});

test("[TK10] an answer starts the count again", () => {
  expect(after(missed, missed, answered)).toEqual(freshWatch);
  expect(after(missed, missed, answered, missed, missed)).toEqual({ state: "watching", unanswered: 2 });
});

test("[TK10] a timer of our own that was a second late resets the count, less does not", () => {
  expect(after(missed, missed, { lateMs: 1_000, answered: false })).toEqual(freshWatch);
  expect(after(missed, missed, { lateMs: 999, answered: false })).toEqual({ state: "hung" });
});

test("[TK10] hung is final", () => {
  expect(judge({ state: "hung" }, answered)).toEqual({ state: "hung" });
});
