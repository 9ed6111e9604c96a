// May this address be reached?
import { expect, test } from "bun:test";
import { createAllows, isDomain } from "../../src/core/allowed-domains.ts";

test("[OU4] a domain and what lies below it are allowed, look-alikes are not", () => {
  const allows = createAllows(["example.com", "*.other.org", "127.0.0.1"]);
  const right = [
    "https://example.com/x",
    "wss://api.example.com",
    "http://EXAMPLE.com.",
    "http://a.b.other.org",
    "http://127.0.0.1:3",
  ];
  const wrong = [
    "https://example.com.evil.net",
    "https://notexample.com",
    "http://localhost",
    "http://127.0.0.2",
    "no url",
    "ftp://x.y",
  ];
  expect(right.filter((url) => !allows(url))).toEqual([]);
  expect(wrong.filter(allows)).toEqual([]);
});

test("[OU4] pages without a network are free, a blob belongs to its site", () => {
  const allows = createAllows(["example.com"]);
  expect(["about:blank", "data:text/html,x", "blob:https://example.com/1"].every(allows)).toBe(true);
  expect(allows("blob:https://evil.net/1")).toBe(false);
  expect(createAllows([])("https://anywhere.net")).toBe(true);
});

test("[OU4] what is no plain name is refused, so that nobody trusts in a rule that does not hold", () => {
  expect(["example.com", "*.example.com", "localhost", "127.0.0.1", "[::1]"].every(isDomain)).toBe(true);
  expect(["https://example.com", "example.com/x", "example.com:80", "", "*"].some(isDomain)).toBe(false);
});
