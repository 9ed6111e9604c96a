// Can anybody without the token pass for one of us, in either direction?
import { expect, test } from "bun:test";
import { systemSecrets } from "../../src/platform/secrets.ts";
import { createClientProver, createHostProver } from "../../src/rpc/prover.ts";

const world = { secrets: systemSecrets };
const TOKEN = "a".repeat(64);
const WRONG = "b".repeat(64);

test("[SC2] both sides that know the token believe each other", () => {
  const client = createClientProver(world, TOKEN);
  const host = createHostProver(world, TOKEN);
  const proof = client.check(host.answer(client.nonce));
  expect(proof).toMatch(/^[0-9a-f]{64}$/);
  expect(host.accepts(proof)).toBe(true);
});

test("[SC2] neither token nor proof of the other side is among what crosses the wire", () => {
  const client = createClientProver(world, TOKEN);
  const host = createHostProver(world, TOKEN);
  const answer = host.answer(client.nonce);
  const proof = client.check(answer) ?? "";
  for (const said of [client.nonce, answer.nonce, answer.proof, proof]) expect(said).not.toContain(TOKEN);
  expect(proof).not.toBe(answer.proof);
});

test("[SC2] a host without the token is not believed, and gets no proof of ours", () => {
  const client = createClientProver(world, TOKEN);
  expect(client.check(createHostProver(world, WRONG).answer(client.nonce))).toBeUndefined();
  expect(client.check({ nonce: "0".repeat(64), proof: "" })).toBeUndefined();
});

test("[SC2] a client without the token is not accepted", () => {
  const host = createHostProver(world, TOKEN);
  const client = createClientProver(world, WRONG);
  const { nonce } = host.answer(client.nonce);
  expect(host.accepts(systemSecrets.hmac(WRONG, `client|${client.nonce}|${nonce}`))).toBe(false);
});

test("[SC2] a mirror that hands our own nonce, or our own side's proof, back proves nothing", () => {
  const client = createClientProver(world, TOKEN);
  const honest = createHostProver(world, TOKEN);
  // The attacker plays host to one client and asks it as if it were a host itself.
  expect(
    client.check({ nonce: client.nonce, proof: systemSecrets.hmac(TOKEN, `host|${client.nonce}|${client.nonce}`) }),
  ).toBeUndefined();
  const answer = honest.answer(client.nonce);
  expect(honest.accepts(answer.proof)).toBe(false);
});

test("[SC2] a client's proof cannot be reflected at another client as a host's", () => {
  const victim = createClientProver(world, TOKEN);
  const other = createClientProver(world, TOKEN);
  const host = createHostProver(world, TOKEN);
  const clientProof = other.check(host.answer(other.nonce)) ?? "";
  expect(victim.check({ nonce: other.nonce, proof: clientProof })).toBeUndefined();
});

test("[SC2] what was recorded of one greeting opens no other, on either side", () => {
  const host = createHostProver(world, TOKEN);
  const first = createClientProver(world, TOKEN);
  const answer = host.answer(first.nonce);
  const proof = first.check(answer) ?? "";
  expect(host.accepts(proof)).toBe(true);

  const later = createHostProver(world, TOKEN);
  later.answer(first.nonce);
  expect(later.accepts(proof)).toBe(false);
  expect(createClientProver(world, TOKEN).check(answer)).toBeUndefined();
});

test("[SC2] one try per challenge: no proof without one, none twice, none after a wrong one", () => {
  const host = createHostProver(world, TOKEN);
  const client = createClientProver(world, TOKEN);
  expect(host.accepts("")).toBe(false);
  const proof = client.check(host.answer(client.nonce));
  expect(host.accepts("wrong")).toBe(false);
  expect(host.accepts(proof)).toBe(false);
  const second = client.check(host.answer(client.nonce));
  expect(host.accepts(second)).toBe(true);
  expect(host.accepts(second)).toBe(false);
  expect(host.accepts(undefined)).toBe(false);
});
