// Who gets in at the door? Web pages and rebound names never, strangers not without a proof.
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Peer } from "../fixtures/peer.ts";
import { openPeer } from "../fixtures/peer.ts";
import {
  challengeHost,
  clientProof,
  envelope,
  helloFor,
  hostProof,
  newNonce,
  openClient,
  openPlugin,
} from "../fixtures/people.ts";
import { askRaw, getRequest } from "../fixtures/raw-http.ts";
import { upgradeRequest } from "../fixtures/raw-peer.ts";
import { runHost, TOKEN } from "../fixtures/running-host.ts";

setDefaultTimeout(60_000);

const REQUESTS = {
  "GET /health": (headers: Record<string, string>) => getRequest("/health", headers),
  "POST /health": (headers: Record<string, string>) => getRequest("/health", headers).replace("GET", "POST"),
  "GET /": (headers: Record<string, string>) => getRequest("/", headers),
  "GET /client": (headers: Record<string, string>) => getRequest("/client", headers),
  "OPTIONS /client": (headers: Record<string, string>) => getRequest("/client", headers).replace("GET", "OPTIONS"),
  "upgrade /client": (headers: Record<string, string>) => upgradeRequest("/client", headers),
  "upgrade /plugin": (headers: Record<string, string>) => upgradeRequest("/plugin", headers),
  "upgrade /health": (headers: Record<string, string>) => upgradeRequest("/health", headers),
};

test("[SC1] everything with an Origin is refused 403, but for GET /health", async () => {
  using running = runHost({ auth: "none" });
  for (const origin of [
    "http://evil.example",
    "https://127.0.0.1",
    `http://127.0.0.1:${running.port}`,
    "null",
    "file://",
  ]) {
    for (const [what, request] of Object.entries(REQUESTS)) {
      const { status, text } = await askRaw(running.port, request({ Origin: origin }));
      expect({ origin, what, status }).toEqual({ origin, what, status: what === "GET /health" ? 200 : 403 });
      expect(text).not.toMatch(/access-control-allow/i);
    }
  }
  expect(running.host.clients + running.host.sessions).toBe(0);
});

test("[SC1] without an Origin programs get in", async () => {
  using running = runHost();
  expect((await askRaw(running.port, REQUESTS["upgrade /client"]({}))).status).toBe(101);
  expect((await askRaw(running.port, REQUESTS["upgrade /plugin"]({}))).status).toBe(101);
});

test("[SC1] a Host that names us is let in, with any port and in any case", async () => {
  using running = runHost();
  const names = ["127.0.0.1", "localhost", "[::1]", "LocalHost", "127.0.0.1:1", "localhost:65535", "[::1]:38741"];
  for (const name of names) {
    expect((await askRaw(running.port, getRequest("/health", { Host: name }))).status, name).toBe(200);
    expect((await askRaw(running.port, upgradeRequest("/client", { Host: name }))).status, name).toBe(101);
  }
});

test("[SC1] any other Host is refused 403, /health included", async () => {
  using running = runHost();
  const names = [
    "evil.example",
    "evil.example:38741",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "localhost.",
    "127.0.0.2",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "[::]",
    "[::ffff:127.0.0.1]",
    "::1",
    "[::1",
    "",
    "%%",
    "a b",
    "user@127.0.0.1",
    "127.0.0.1@evil.example",
    "127.0.0.1/x",
    "evil.example:80:127.0.0.1",
  ];
  for (const name of names) {
    for (const what of ["GET /health", "GET /", "upgrade /client", "upgrade /plugin"] as const) {
      const { status } = await askRaw(running.port, REQUESTS[what]({ Host: name }));
      expect({ name, what, status }).toEqual({ name, what, status: 403 });
    }
  }
  expect((await askRaw(running.port, "GET /health HTTP/1.0\r\n\r\n")).status).toBe(403);
});

const refused = async (peer: Peer): Promise<void> => {
  expect((await peer.closed).code).toBe(1008);
  expect(peer.seen.filter(({ type }) => type !== "host-hello")).toEqual([]);
};

test("[SC2] the host proves itself first, for the client's own nonce, each time with a fresh one of its own", async () => {
  using running = runHost();
  const peer = await openPeer(running.url("/client"));
  const first = await challengeHost(peer);
  const second = await challengeHost(peer);
  for (const { nonce, hello } of [first, second]) {
    expect(hello["proof"]).toBe(hostProof(nonce, String(hello["nonce"])));
    expect(String(hello["nonce"])).toMatch(/^[0-9a-f]{64}$/);
  }
  expect(first.hello["nonce"]).not.toBe(second.hello["nonce"]);
});

test("[SC2] nothing is obeyed before the proof, and nothing is told", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const asks = [
    { type: "list-sessions", requestId: "x" },
    { type: "list-instances", requestId: "x" },
    { type: "host-status", requestId: "x" },
    { type: "host-stop", requestId: "x" },
    envelope("x", "session-1", "execute", { script: "1" }),
  ];
  for (const ask of asks) {
    const peer = await openPeer(running.url("/client"));
    await challengeHost(peer);
    peer.send(ask);
    await refused(peer);
  }
  const listener = await openPeer(running.url("/client"));
  await challengeHost(listener);
  await openPlugin(running, { sessionId: "secret", instanceId: "secret" });
  await listener.settled();
  expect(listener.seen.map(({ type }) => type)).toEqual(["host-hello"]);
  await plugin.settled();
  expect(plugin.seen).toEqual([]);
});

test("[SC2] a wrong proof is closed 1008, whatever it was made of", async () => {
  using running = runHost();
  const other = await openPeer(running.url("/client"));
  const elsewhere = await challengeHost(other);
  const proofs: Record<string, (nonce: string, hostNonce: string, hostsProof: string) => unknown> = {
    empty: () => "",
    "the token itself": () => TOKEN,
    "the host's own proof": (_nonce, _hostNonce, hostsProof) => hostsProof,
    "another token": (nonce, hostNonce) => clientProof(nonce, hostNonce, "f".repeat(64)),
    "nonces swapped": (nonce, hostNonce) => clientProof(hostNonce, nonce),
    "another connection's nonces": () => clientProof(elsewhere.nonce, String(elsewhere.hello["nonce"])),
    "cut short": (nonce, hostNonce) => clientProof(nonce, hostNonce).slice(0, 32),
    "in capitals": (nonce, hostNonce) => clientProof(nonce, hostNonce).toUpperCase(),
  };
  for (const make of Object.values(proofs)) {
    const peer = await openPeer(running.url("/client"));
    const { nonce, hello } = await challengeHost(peer);
    peer.send(helloFor(String(make(nonce, String(hello["nonce"]), String(hello["proof"])))));
    peer.send({ type: "list-sessions", requestId: "x" });
    await refused(peer);
  }
  expect(running.entered).toEqual([]);
});

test("[SC2] a proof is good for the last challenge only, and only after one", async () => {
  using running = runHost();
  const unasked = await openPeer(running.url("/client"));
  unasked.send(helloFor(clientProof(newNonce(), newNonce())));
  await refused(unasked);
  const stale = await openPeer(running.url("/client"));
  const first = await challengeHost(stale);
  await challengeHost(stale);
  stale.send(helloFor(clientProof(first.nonce, String(first.hello["nonce"]))));
  await refused(stale);
});

test("[SC2] --auth none lets a proven client in as well, and still believes no wrong proof", async () => {
  using running = runHost({ auth: "none" });
  const client = await openClient(running, { standing: true });
  expect(client.seen.at(-1) as unknown).toEqual({ type: "succession", rank: 0 });
  const liar = await openPeer(running.url("/client"));
  await challengeHost(liar);
  liar.send(helloFor("0".repeat(64), { standing: true }));
  await refused(liar);
});
