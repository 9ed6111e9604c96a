// Is everything that is no frame passed over?
import { expect, test } from "bun:test";
import { parseFrame } from "../../src/rpc/frame.ts";

test("[PL8] an object with a type is a frame, with all its fields", () => {
  expect(parseFrame('{"type":"register","sessionId":"s","extra":[1]}')).toEqual({
    type: "register",
    sessionId: "s",
    extra: [1],
  });
});

test("[PL8] anything else is none, and nothing is thrown", () => {
  for (const text of ["", "{", "null", "1", '"type"', "[]", "{}", '{"type":1}', '{"type":null}', "\u0000"]) {
    expect(parseFrame(text)).toBeUndefined();
  }
});
