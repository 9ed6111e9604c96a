// Does a flood of nonsense end or swell a host? It runs in a process of its own, and honest work goes on meanwhile.
import { expect, setDefaultTimeout, test } from "bun:test";
import { createDice, malformedFrame } from "../fixtures/malformed.ts";
import { openPeer, type Peer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { OPCODE, openRawPeer } from "../fixtures/raw-peer.ts";
import { type SpawnedHost, spawnHost } from "../fixtures/spawned-host.ts";

setDefaultTimeout(240_000);

const FRAMES = 100_000;
const MIB = 1024 * 1024;

interface Honest {
  readonly done: number;
  stop(): Promise<void>;
}

/** One request after the other, each answered by the plugin, until it is stopped. */
async function workHonestly(host: SpawnedHost): Promise<Honest & { client: Peer }> {
  const plugin = await openPlugin(host, { sessionId: "honest", instanceId: "honest" });
  const client = await openClient(host);
  let done = 0;
  let over = false;
  const answer = async () => {
    for (;;) {
      const asked = await plugin.next("execute");
      plugin.send(answerTo(asked, "scriptComplete", { success: true, script: asked.payload["script"] }));
    }
  };
  const ask = async () => {
    while (!over) {
      const id = `honest-${done}`;
      client.send(envelope(id, "honest", "execute", { script: id }));
      const response = await client.next(({ requestId }) => requestId === id);
      expect(response["result"]).toMatchObject({ type: "scriptComplete", payload: { script: id } });
      done++;
    }
  };
  void answer().catch(() => {});
  const asking = ask();
  return {
    client,
    get done() {
      return done;
    },
    async stop() {
      over = true;
      await asking;
    },
  };
}

async function flood(peer: Peer, seed: number): Promise<void> {
  const dice = createDice(seed);
  for (let sent = 0; sent < FRAMES; sent++) {
    peer.send(malformedFrame(dice));
    if (sent % 100 === 99) await peer.settled();
    peer.sent.length = 0;
  }
}

test("[SC4] 100,000 malformed frames on /plugin and as many on /client neither end nor swell the host", async () => {
  await using host = await spawnHost({ auth: "none" });
  const honest = await workHonestly(host);
  const onPlugin = await openPlugin(host, { sessionId: "flood", instanceId: "flood" });
  const onClient = await openPeer(host.url("/client"));
  const before = await host.memory();
  const doneBefore = honest.done;
  await Promise.all([flood(onPlugin, 1), flood(onClient, 2)]);
  const doneMeanwhile = honest.done - doneBefore;
  await honest.stop();
  const after = await host.memory();
  expect(host.exitCode).toBeNull();
  expect([onPlugin.isClosed, onClient.isClosed]).toEqual([false, false]);
  expect(doneMeanwhile).toBeGreaterThan(50);
  expect(after.now - before.now).toBeLessThan(64);
  expect(after.peak - before.peak).toBeLessThan(256);
  expect(after.logs).toBeLessThan(20);
  honest.client.send({ type: "host-status", requestId: "s" });
  const { status } = (await honest.client.next("host-status-response")) as unknown as {
    status: { malformedFrames: number };
  };
  // Some by chance are right: an id of text, a nonce that is long enough.
  expect(status.malformedFrames).toBeGreaterThan(1.6 * FRAMES);
});

test("[SC4] wrong UTF-8 in a text frame ends that socket and no other", async () => {
  await using host = await spawnHost({ auth: "none" });
  const honest = await workHonestly(host);
  for (let round = 0; round < 100; round++) {
    const peers = await Promise.all([openRawPeer(host.port, "/plugin"), openRawPeer(host.port, "/client")]);
    for (const peer of peers) peer.frame(OPCODE.text, Buffer.from([0x7b, 0xff, 0xfe, 0xc0, 0x80, 0x7d]));
    await Promise.all(peers.map(({ gone }) => gone));
  }
  await honest.stop();
  expect(honest.done).toBeGreaterThan(10);
  expect(host.exitCode).toBeNull();
});

test("[SC4] huge frames are taken up to 16 MiB, closed 1009 beyond, and none of them stays in memory", async () => {
  await using host = await spawnHost({ auth: "none" });
  const honest = await workHonestly(host);
  const warm = await openPlugin(host, { sessionId: "warm", instanceId: "warm" });
  warm.send("x".repeat(16 * MIB));
  await warm.settled();
  const before = await host.memory();
  for (let round = 0; round < 2; round++) {
    for (const path of ["/plugin", "/client"]) {
      const peer = await openPeer(host.url(path));
      for (const frame of ["x".repeat(16 * MIB), `{"type":"x","payload":[${"[],".repeat(MIB)}`, "[".repeat(16 * MIB)]) {
        peer.send(frame);
        peer.sent.length = 0;
        await peer.settled();
      }
      peer.send(new Uint8Array(16 * MIB + 1));
      expect((await peer.closed).code).toBe(1009);
    }
  }
  const after = await host.memory();
  await honest.stop();
  expect(host.exitCode).toBeNull();
  expect(after.now - before.now).toBeLessThan(128);
  expect(after.peak).toBeLessThan(1_200);
});

test("[SC4] what a plugin says of itself is told to every client, so it may not be huge", async () => {
  await using host = await spawnHost({ auth: "none" });
  const honest = await workHonestly(host);
  const huge = "x".repeat(15 * MIB);
  const boaster = await openPlugin(host, { sessionId: "boaster", instanceId: "boaster" });
  const claims = [
    registerFor({ sessionId: "boaster", instanceId: huge }),
    registerFor({ sessionId: "boaster", more: { placeName: huge } }),
    registerFor({ sessionId: "boaster", state: huge }),
    registerFor({ sessionId: "boaster", more: { pluginVersion: huge } }),
    registerFor({ sessionId: "boaster", more: { placeFile: huge } }),
    registerFor({ sessionId: "boaster", capabilities: [huge] }),
    registerFor({ sessionId: "boaster", capabilities: Array.from({ length: MIB }, () => "capability") }),
    { type: "stateChange", sessionId: "boaster", payload: { newState: huge } },
  ];
  for (const claim of claims) boaster.send(claim);
  const newcomer = await openPeer(host.url("/plugin"));
  newcomer.send(registerFor({ sessionId: huge }));
  newcomer.send({ type: "hello", sessionId: huge, payload: {} });
  await Promise.all([boaster.settled(), newcomer.settled()]);
  await honest.stop();
  expect(honest.client.isClosed).toBe(false);
  const longest = Math.max(...honest.client.seen.map((frame) => JSON.stringify(frame).length));
  expect(longest).toBeLessThan(64 * 1024);
});

test("[SC4] broken HTTP and broken WebSocket frames end their own connection and nothing else", async () => {
  await using host = await spawnHost({ auth: "none" });
  const honest = await workHonestly(host);
  const dice = createDice(3);
  for (let round = 0; round < 100; round++) {
    const raw = await openRawPeer(host.port, round % 2 ? "/plugin" : "/client");
    raw.tcp.write(Buffer.from(Array.from({ length: 2 + dice(300) }, () => dice(256))));
    raw.tcp.end();
    await raw.gone;
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: host.port,
      socket: { data() {}, close: () => resolve(), error: () => resolve() },
    });
    socket.write(Buffer.from(Array.from({ length: 1 + dice(300) }, () => dice(256))));
    socket.end();
    await promise;
  }
  await honest.stop();
  expect(honest.done).toBeGreaterThan(10);
  expect(host.exitCode).toBeNull();
});
