// How do client and host of different versions meet, and how does a successor greet?
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "../../src/bridge/join.ts";
import { createSystemWorld } from "../../src/platform/system.ts";
import { PROTOCOL_VERSION, VERSION } from "../../src/protocol/version.ts";
import { openPeer } from "../fixtures/peer.ts";
import { challengeHost, clientProof, helloFor, hostProof, openClient } from "../fixtures/people.ts";
import { runHost, TOKEN } from "../fixtures/running-host.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

test("[CL4] a host that took over greets each client with host-ready, a first host does not", async () => {
  using successor = runHost({ failover: true });
  const first = await openClient(successor);
  const second = await openClient(successor, { standing: true });
  await Promise.all([first.next("host-ready"), second.next("host-ready")]);
  using original = runHost();
  const client = await openClient(original, { standing: true });
  expect(client.seen.map(({ type }) => type)).toEqual(["host-hello", "succession"]);
});

test("[CL5] both hellos carry versions, and a client too old for this host is told so", async () => {
  using running = runHost();
  const peer = await openPeer(running.url("/client"));
  const { nonce, hello } = await challengeHost(peer);
  expect(hello).toMatchObject({ version: VERSION, protocolVersion: PROTOCOL_VERSION, pid: process.pid });
  peer.send({ ...helloFor(clientProof(nonce, String(hello["nonce"]))), protocolVersion: 1 });
  expect(await peer.closed).toEqual({ code: 1008, reason: "Protocol 1 is too old for this host" });
  const newer = await openPeer(running.url("/client"));
  const greeting = await challengeHost(newer);
  const proof = clientProof(greeting.nonce, String(greeting.hello["nonce"]));
  newer.send({ ...helloFor(proof), protocolVersion: 99 });
  newer.send({ type: "list-sessions", requestId: "l" });
  await newer.next("list-sessions-response");
});

/** A host of another version: it knows the token, and speaks another protocol. */
function otherVersion(protocolVersion: number) {
  const heard: Record<string, unknown>[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, self) => (self.upgrade(request, { data: undefined }) ? undefined : new Response("ok")),
    websocket: {
      message(ws, text) {
        const message = JSON.parse(String(text)) as Record<string, unknown>;
        heard.push(message);
        if (message["type"] !== "client-challenge") return;
        const proof = hostProof(String(message["nonce"]), "its-nonce");
        ws.send(
          JSON.stringify({ type: "host-hello", nonce: "its-nonce", proof, version: "x.y", protocolVersion, pid: 1 }),
        );
      },
    },
  });
  const options = { port: server.port as number, token: TOKEN, standing: true };
  const world = createSystemWorld({ info() {}, warn() {} });
  return {
    heard,
    joining: join(world, options, { message() {}, closed() {} }),
    [Symbol.dispose]: () => void server.stop(true),
  };
}

test("[CL5] a client says plainly that an older host must be stopped, and tells it nothing more", async () => {
  using older = otherVersion(1);
  const outcome = await older.joining;
  expect(outcome).toMatchObject({ kind: "skew", why: expect.stringContaining("run: holdfast stop") });
  expect(older.heard.map(({ type }) => type)).toEqual(["client-challenge"]);
});

test("[CL5] a client joins a newer host on the older protocol", async () => {
  using newer = otherVersion(99);
  const outcome = await newer.joining;
  expect(outcome.kind).toBe("joined");
  await until(() => newer.heard.length === 2);
  expect(newer.heard[1]).toMatchObject({ type: "client-hello", protocolVersion: PROTOCOL_VERSION });
  if (outcome.kind === "joined") outcome.link.end();
});

test("[CL5] [PL8] a request about agents that this host does not understand is answered, not left open", async () => {
  using running = runHost();
  const client = await openClient(running);
  client.send({ type: "agent-request", requestId: "a1", request: { verb: "from-the-future" } });
  expect(await client.next("agent-response")).toMatchObject({ requestId: "a1", error: { code: "INVALID_PAYLOAD" } });
  client.send({ type: "agent-request", requestId: "a2", request: { verb: "attach", session: "a b", after: 0 } });
  expect(await client.next("agent-response")).toMatchObject({ requestId: "a2", error: { code: "INVALID_PAYLOAD" } });
});
