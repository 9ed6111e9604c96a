// Can a proof be used for anything but the one thing it proves?
import { expect, test } from "bun:test";
import { clientProofText, hostProofText } from "../../src/core/proof.ts";

test("[SC2] the proven text holds the role and both nonces, so no proof serves the other role or order", () => {
  const texts = [
    hostProofText("a", "b"),
    hostProofText("b", "a"),
    clientProofText("a", "b"),
    clientProofText("b", "a"),
  ];
  expect(new Set(texts).size).toBe(4);
  for (const text of texts) expect(text).toMatch(/a.*b|b.*a/);
  expect(hostProofText("a", "b")).toStartWith("host");
  expect(clientProofText("a", "b")).toStartWith("client");
});

test("[SC2] nonces are hex on both sides, so the separator cannot be moved from one into the other", () => {
  expect(hostProofText("aa", "bb")).not.toBe(hostProofText("aab", "b"));
});
