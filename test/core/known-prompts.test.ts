// Are prompts known as long as somebody may ask again, and no longer?
import { expect, test } from "bun:test";
import { createKnownPrompts, KNOWN_PROMPTS } from "../../src/core/known-prompts.ts";

test("[SE2] a prompt is known with where its events begin, also from an earlier host", () => {
  const known = createKnownPrompts([["left", 4]]);
  known.add("new", 9);
  expect([known.after("left"), known.after("new"), known.after("never")]).toEqual([4, 9, undefined]);
});

test("[SE2] ten thousand prompts take the room of the newest thousand", () => {
  const known = createKnownPrompts([]);
  for (let at = 0; at < 10_000; at++) known.add(`p${at}`, at);
  expect([known.size, known.after("p8999"), known.after("p9000")]).toEqual([KNOWN_PROMPTS, undefined, 9_000]);
});
