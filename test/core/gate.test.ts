// Are web pages and rebound names kept out, and everything else that is not ours?
import { expect, test } from "bun:test";
import { type Knock, knock } from "../../src/core/gate.ts";

const health: Knock = { method: "GET", path: "/health", upgrade: false, host: "127.0.0.1:38741", origin: null };
const upgrade: Knock = { ...health, path: "/client", upgrade: true };
const status = (asked: Knock): number | "open" => {
  const gate = knock(asked);
  return gate.kind === "open" ? "open" : gate.status;
};

test("[SC1] any upgrade with an Origin is refused 403, even our own and null", () => {
  for (const origin of ["https://example.com", "http://127.0.0.1:38741", "null", ""]) {
    for (const path of ["/client", "/plugin", "/other"]) expect(status({ ...upgrade, path, origin })).toBe(403);
  }
});

test("[SC1] GET /health alone may carry an Origin", () => {
  const origin = "https://example.com";
  expect(status({ ...health, origin })).toBe("open");
  expect(status({ ...health, origin, method: "POST" })).toBe(403);
  expect(status({ ...health, origin, path: "/" })).toBe(403);
  expect(status({ ...health, origin, upgrade: true })).toBe(403);
});

test("[SC1] a Host that names neither 127.0.0.1 nor localhost nor [::1] is refused, whatever is asked", () => {
  for (const host of [
    "evil.example",
    "evil.example:38741",
    "127.0.0.1.evil.example",
    "localhost.evil",
    "::1",
    "",
    null,
  ]) {
    expect(status({ ...health, host })).toBe(403);
    expect(status({ ...upgrade, host })).toBe(403);
  }
});

test("[SC1] our three names are right with any port or none, in any case", () => {
  for (const host of ["127.0.0.1", "127.0.0.1:1", "localhost", "LocalHost:9999", "[::1]", "[::1]:38741"]) {
    expect(status({ ...health, host })).toBe("open");
    expect(status({ ...upgrade, host })).toBe("open");
  }
});

test("[HE2] anything but health and the two upgrades is 404", () => {
  expect(status({ ...health, path: "/" })).toBe(404);
  expect(status({ ...health, method: "POST" })).toBe(404);
  expect(status({ ...health, path: "/client" })).toBe(404);
  expect(status({ ...upgrade, path: "/health" })).toBe(404);
  expect(status({ ...upgrade, path: "/clients" })).toBe(404);
  expect(status({ ...upgrade, path: "/plugin" })).toBe("open");
});
