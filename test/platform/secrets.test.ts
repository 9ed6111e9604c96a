// Are the secrets made without node:crypto the same as those made with it?
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { systemSecrets } from "../../src/platform/secrets.ts";

const { equal, hmac, nonce } = systemSecrets;

test("a nonce is 32 random bytes in hex", () => {
  const made = Array.from({ length: 100 }, nonce);
  expect(new Set(made).size).toBe(100);
  for (const each of made) expect(each).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ["key", "text"],
  ["k".repeat(64), ""],
  ["k".repeat(200), "a key longer than a block is hashed first"],
  ["schlüssel", "größe ✓"],
])("the proof under %j is HMAC-SHA-256, as every other program makes it", (key, text) => {
  expect(hmac(key, text)).toBe(createHmac("sha256", key).update(text).digest("hex"));
});

test("two texts are equal in every character or not at all", () => {
  const one = nonce();
  expect(equal(one, `${one}`)).toBe(true);
  expect(equal("", "")).toBe(true);
  for (let at = 0; at < one.length; at++) {
    const other = one[at] === "0" ? "1" : "0";
    expect(equal(one, one.slice(0, at) + other + one.slice(at + 1))).toBe(false);
  }
  expect(equal(one, one.slice(1))).toBe(false);
  expect(equal(one, "")).toBe(false);
  expect(equal("a", "\u0161")).toBe(false);
});
