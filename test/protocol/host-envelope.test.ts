// Is the check by hand as strict as the schema it stands in for? Every part of an envelope spoilt in every way.
import { describe, expect, test } from "bun:test";
import { HostEnvelope, isHostEnvelope } from "../../src/protocol/client.ts";

const VALUES = [
  undefined,
  null,
  true,
  0,
  1,
  -1,
  Number.POSITIVE_INFINITY,
  "",
  "text",
  "host-envelope",
  [],
  ["a"],
  {},
  { a: 1 },
];

const envelope = (): Record<string, unknown> => ({
  type: "host-envelope",
  requestId: "r1",
  targetSessionId: "s1",
  action: { type: "execute", sessionId: "s1", requestId: "a1", payload: { script: "1" } },
  timeoutMs: 5_000,
});

function spoilt(): Record<string, unknown>[] {
  const outer = Object.keys(envelope()).flatMap((key) => VALUES.map((value) => ({ ...envelope(), [key]: value })));
  const inner = ["type", "sessionId", "requestId", "payload"].flatMap((key) =>
    VALUES.map((value) => {
      const whole = envelope();
      return { ...whole, action: { ...(whole["action"] as object), [key]: value } };
    }),
  );
  return [...outer, ...inner];
}

describe("isHostEnvelope", () => {
  test("[CL1] it says of every spoilt envelope what the schema says", () => {
    const all = spoilt();
    const wrong = all.filter((frame) => isHostEnvelope(frame) !== HostEnvelope.safeParse(frame).success);
    expect(wrong).toEqual([]);
    expect(all.filter(isHostEnvelope).length).toBeGreaterThan(10);
    expect(all.filter((frame) => !isHostEnvelope(frame)).length).toBeGreaterThan(50);
  });

  test("[CL1] a whole one passes, with and without what may be left out", () => {
    const { timeoutMs: _, ...rest } = envelope();
    expect(isHostEnvelope(envelope())).toBe(true);
    expect(isHostEnvelope({ ...rest, action: { type: "own", payload: {} }, unknown: 1 })).toBe(true);
  });
});
