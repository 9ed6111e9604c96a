// Does any form of a secret get through?
import { expect, test } from "bun:test";
import { createRedact, maskUrl, placeholdersIn, reveal, revealInUrl, secretsOfUrl } from "../../src/core/redact.ts";

const CANARY = 'c4nary+"<&> ü';

test("[OU3] a secret is taken out in every form it may be written in, keys of objects included", () => {
  const redact = createRedact([{ mask: "{{PW}}", value: CANARY }]);
  const forms = [
    CANARY,
    encodeURIComponent(CANARY),
    JSON.stringify({ a: CANARY }),
    new URLSearchParams({ a: CANARY }).toString(),
    Buffer.from(CANARY).toString("base64"),
    CANARY.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ];
  for (const form of forms) expect(redact(`before ${form} after`)).toContain("{{PW}}");
  const deep = redact({ list: [{ text: CANARY, number: 3, none: null }], [CANARY]: true });
  expect(deep).toEqual({ list: [{ text: "{{PW}}", number: 3, none: null }], "{{PW}}": true } as unknown as typeof deep);
});

test("[OU3] user info, query values and long path parts of an endpoint are masked, by value too", () => {
  const url = "wss://me:s3cretpw@browsers.example:443/launch/0123456789abcdef0123?token=t0kenvalue&stealth=true";
  expect(maskUrl(url)).toBe("wss://***@browsers.example/launch/***?token=***&stealth=***");
  const redact = createRedact(secretsOfUrl(url));
  const said = redact(
    `connectOverCDP: failed for ${url}; token t0kenvalue, path 0123456789abcdef0123, s3cretpw; it is true`,
  );
  for (const part of ["t0kenvalue", "0123456789abcdef0123", "s3cretpw", "me:"]) expect(said).not.toContain(part);
  // A short value is masked in its URL only.
  expect(said).toEndWith("it is true");
});

test("[OU3] a plain endpoint stays readable", () => {
  expect(maskUrl("http://127.0.0.1:9222")).toBe("http://127.0.0.1:9222/");
  expect(createRedact(secretsOfUrl("http://127.0.0.1:9222"))("http://127.0.0.1:9222/json")).toBe(
    "http://127.0.0.1:9222/json",
  );
});

test("[OU3] one secret inside another leaves nothing of the longer one", () => {
  const redact = createRedact([
    { mask: "{{A}}", value: "abc" },
    { mask: "{{B}}", value: "xabcx" },
  ]);
  expect(redact("xabcx abc")).toBe("{{B}} {{A}}");
});

test("placeholders are found and filled; unknown ones stay", () => {
  expect(placeholdersIn("{{A}} and {{ B_2 }} but not {C}")).toEqual(["A", "B_2"]);
  expect(reveal("{{A}}-{{B}}", new Map([["A", "1"]]))).toBe("1-{{B}}");
  const values = new Map([
    ["Q", "a&b"],
    ["BASE", "http://x/"],
  ]);
  expect(revealInUrl("{{BASE}}s?q={{Q}}&r={{R}}", values)).toBe("http://x/s?q=a%26b&r={{R}}");
});
