// Who gets in on /plugin when --plugin-token closes it? Who shows the token, or proves to know the user's own.
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPeer, type Peer } from "../fixtures/peer.ts";
import { clientProof, hostProof, newNonce, openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { askRaw } from "../fixtures/raw-http.ts";
import { upgradeRequest } from "../fixtures/raw-peer.ts";
import { runHost, TOKEN } from "../fixtures/running-host.ts";

setDefaultTimeout(60_000);

const pluginToken = "plugin-token-1234";

test("[SC2] without --plugin-token every loopback process may register", async () => {
  using running = runHost();
  await openPlugin(running);
  await openPlugin(running, { sessionId: "s2", instanceId: "i2", query: "?token=anything" });
  expect(running.host.sessions).toBe(2);
});

test("[SC2] a wrong plugin token is 401 before any socket exists", async () => {
  using running = runHost({ pluginToken });
  const wrong = [
    ["/plugin?token=wrong", {}],
    ["/plugin?token=", {}],
    [`/plugin?token=${pluginToken}x`, {}],
    [`/plugin?token=${pluginToken.slice(0, -1)}`, {}],
    ["/plugin", { Authorization: "Bearer wrong" }],
    ["/plugin", { Authorization: `Basic ${pluginToken}` }],
    [`/plugin?token=${pluginToken}`, { Authorization: "Bearer wrong" }],
    [`/plugin?token=${TOKEN}`, {}],
  ] as const;
  for (const [path, headers] of wrong) {
    const { status, body } = await askRaw(running.port, upgradeRequest(path, headers));
    expect({ path, headers, status, body }).toEqual({ path, headers, status: 401, body: "The plugin token is wrong" });
  }
});

test("[SC2] the right plugin token by query or bearer gets in", async () => {
  using running = runHost({ pluginToken });
  await openPlugin(running, { sessionId: "query", query: `?token=${pluginToken}` });
  const headers = { Authorization: `Bearer ${pluginToken}` };
  await openPlugin(running, { sessionId: "bearer", instanceId: "i2", headers });
  expect(running.sessions.map(({ sessionId }) => sessionId)).toEqual(["query", "bearer"]);
});

const closedAtRegister = async (peer: Peer): Promise<void> => {
  const { code, reason } = await peer.closed;
  expect(code).toBe(1008);
  expect(reason).toContain("plugin token");
  expect(reason).not.toContain(pluginToken);
};

test("[SC2] no token and no proof: closed 1008 at register, and at hello", async () => {
  using running = runHost({ pluginToken });
  for (const greeting of [registerFor(), { type: "hello", sessionId: "s", payload: {} }]) {
    const peer = await openPeer(running.url("/plugin"));
    peer.send({ type: "stateChange", sessionId: "s", payload: { newState: "Play" } });
    await peer.settled();
    peer.send(greeting);
    await closedAtRegister(peer);
  }
  expect(running.sessions).toEqual([]);
});

async function challenge(peer: Peer): Promise<{ nonce: string; hostNonce: string; proof: string }> {
  const nonce = newNonce();
  peer.send({ type: "challenge", sessionId: "", payload: { nonce } });
  const { payload } = await peer.next("challengeResult");
  return { nonce, hostNonce: String(payload["nonce"]), proof: String(payload["proof"]) };
}

test("[SC2] our own plugin gets in by its proof, after the host has given its own", async () => {
  using running = runHost({ pluginToken });
  const peer = await openPeer(running.url("/plugin"));
  const { nonce, hostNonce, proof } = await challenge(peer);
  expect(proof).toBe(hostProof(nonce, hostNonce));
  peer.send(registerFor({ protocolVersion: 2, more: { proof: clientProof(nonce, hostNonce) } }));
  await peer.next("welcome");
  // A second register on the proven socket needs no second proof.
  peer.send(registerFor({ state: "Play" }));
  await peer.settled();
  expect(running.sessions.at(-1)).toMatchObject({ session: { state: "Play" } });
});

test("[SC2] a wrong proof does not get in, nor does the host's own, nor one without a challenge", async () => {
  using running = runHost({ pluginToken });
  const makers: ((asked: { nonce: string; hostNonce: string; proof: string }) => unknown)[] = [
    ({ proof }) => proof,
    () => "0".repeat(64),
    () => 7,
    () => null,
    ({ nonce, hostNonce }) => clientProof(nonce, hostNonce, "f".repeat(64)),
  ];
  for (const make of makers) {
    const peer = await openPeer(running.url("/plugin"));
    const asked = await challenge(peer);
    peer.send(registerFor({ more: { proof: make(asked) } }));
    await closedAtRegister(peer);
  }
  const unasked = await openPeer(running.url("/plugin"));
  unasked.send(registerFor({ more: { proof: clientProof(newNonce(), newNonce()) } }));
  await closedAtRegister(unasked);
  expect(running.host.sessions).toBe(0);
});

test("[SC2] the proof is not handed on to anybody", async () => {
  using running = runHost({ pluginToken });
  const client = await openClient(running);
  const peer = await openPeer(running.url("/plugin"));
  const { nonce, hostNonce } = await challenge(peer);
  const proof = clientProof(nonce, hostNonce);
  peer.send(registerFor({ more: { proof } }));
  await client.next("session-event");
  client.send({ type: "list-sessions", requestId: "l" });
  await client.next("list-sessions-response");
  expect(JSON.stringify(client.seen)).not.toContain(proof);
});
