// What does a receiver that stops reading do to a host, and to the others? Nothing, up to 32 MiB; then it is closed.
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Peer } from "../fixtures/peer.ts";
import { answerTo, envelope, openForeignClient, openPlugin } from "../fixtures/people.ts";
import { openRawPeer, type RawPeer } from "../fixtures/raw-peer.ts";
import { runHost } from "../fixtures/running-host.ts";
import { spawnHost } from "../fixtures/spawned-host.ts";

setDefaultTimeout(120_000);

const KIB = 1024;
const MIB = 1024 * KIB;
const BODY = "x".repeat(64 * KIB);

const SUBSCRIBE = envelope("sub", "session-1", "subscribe", { events: ["output"] });

async function answerSubscribe(plugin: Peer): Promise<void> {
  plugin.send(answerTo(await plugin.next("subscribe"), "subscribeResult", { events: ["output"] }));
}

/** A client that subscribed and from now on reads nothing. */
async function openStoppedReader(port: number, plugin: Peer): Promise<RawPeer> {
  const raw = await openRawPeer(port, "/client");
  raw.send(SUBSCRIBE);
  await answerSubscribe(plugin);
  await raw.next("host-response");
  raw.stop();
  return raw;
}

async function openReader(running: { url(path: string): string }, plugin: Peer): Promise<Peer> {
  const client = await openForeignClient(running);
  client.send(SUBSCRIBE);
  await answerSubscribe(plugin);
  await client.next("host-response");
  return client;
}

function pushMany(plugin: Peer, from: number, to: number): void {
  for (let n = from; n < to; n++) plugin.send({ type: "output", sessionId: "session-1", payload: { n, body: BODY } });
}

/** The numbers of the pushes that came, in the order in which they came. */
const numbers = (peer: Pick<Peer, "seen">): number[] =>
  peer.seen.flatMap(({ result }) => {
    const { type, payload } = (result ?? {}) as { type?: string; payload?: { n: number } };
    return type === "output" && payload ? [payload.n] : [];
  });
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Just below 32 MiB with everything around it. */
const BELOW = 490;

test("[LI2] below the limit a stopped reader delays nobody, and gets every frame in order once it reads on", async () => {
  using running = runHost({ auth: "none" });
  const plugin = await openPlugin(running);
  const stopped = await openStoppedReader(running.port, plugin);
  const reader = await openReader(running, plugin);
  pushMany(plugin, 0, BELOW);
  await reader.count("host-response", 1 + BELOW);
  expect(numbers(reader)).toEqual(upTo(BELOW));
  expect(numbers(stopped).length).toBeLessThan(BELOW);
  reader.send({ type: "list-sessions", requestId: "now" });
  await reader.next(({ requestId }) => requestId === "now");
  stopped.resume();
  await stopped.count("host-response", 1 + BELOW);
  expect(numbers(stopped)).toEqual(upTo(BELOW));
  stopped.send({ type: "list-sessions", requestId: "still here" });
  await stopped.next(({ requestId }) => requestId === "still here");
});

test("[LI2] a reader that stops again and again loses nothing either", async () => {
  using running = runHost({ auth: "none" });
  const plugin = await openPlugin(running);
  const stopped = await openStoppedReader(running.port, plugin);
  for (let round = 0; round < 5; round++) {
    stopped.stop();
    pushMany(plugin, round * 200, (round + 1) * 200);
    await plugin.settled();
    stopped.resume();
    await stopped.count("host-response", 1 + round * 200 + 150);
  }
  await stopped.count("host-response", 1 + 1_000);
  expect(numbers(stopped)).toEqual(upTo(1_000));
});

test("[LI2] with 32 MiB waiting the reader is closed 1013: what it got has no gap, and the others got all", async () => {
  using running = runHost({ auth: "none" });
  const plugin = await openPlugin(running);
  const stopped = await openStoppedReader(running.port, plugin);
  const reader = await openReader(running, plugin);
  pushMany(plugin, 0, 800);
  await reader.count("host-response", 1 + 800);
  expect(numbers(reader)).toEqual(upTo(800));
  expect(running.host.clients).toBe(1);
  stopped.resume();
  expect(await stopped.closed).toMatchObject({ code: 1013, reason: expect.stringContaining("Too far behind") });
  const got = numbers(stopped);
  expect(got).toEqual(upTo(got.length));
  expect(got.length).toBeLessThan(800 - (24 * MIB) / BODY.length);
});

test("[LI2] a plugin that stops reading is closed 1013 too, and every request to it ends with a code", async () => {
  using running = runHost({ auth: "none" });
  const client = await openForeignClient(running);
  const raw = await openRawPeer(running.port, "/plugin");
  raw.send({ type: "hello", sessionId: "stopped", payload: {} });
  await raw.next("welcome");
  raw.stop();
  for (let index = 0; index < 60; index++) {
    client.send(envelope(`e${index}`, "stopped", "execute", { script: "x".repeat(MIB) }));
  }
  await client.count("host-response", 60);
  const codes = client.seen
    .filter(({ type }) => type === "host-response")
    .map(({ result }) => (result as { payload: { code: string } }).payload.code);
  expect(new Set(codes)).toEqual(new Set(["SESSION_DISCONNECTED", "SESSION_NOT_FOUND"]));
  raw.resume();
  expect((await raw.closed).code).toBe(1013);
});

test("[LI2] memory is bounded: eight stopped readers, 256 MiB for each of them", async () => {
  await using host = await spawnHost({ auth: "none" });
  const plugin = await openPlugin(host);
  const reader = await openReader(host, plugin);
  const before = await host.memory();
  const stopped: RawPeer[] = [];
  for (let index = 0; index < 8; index++) stopped.push(await openStoppedReader(host.port, plugin));
  for (let sent = 0; sent < 4_096; sent += 256) {
    pushMany(plugin, sent, sent + 256);
    await reader.count("host-response", 1 + sent + 256);
    reader.seen.length = 0;
  }
  const after = await host.memory();
  // Eight queues of 32 MiB, and as much again for what is on its way; without a limit it would be 2 GiB.
  expect(after.peak - before.peak).toBeLessThan(2 * 8 * 32 + 128);
  expect(after.now - before.now).toBeLessThan(128);
  for (const raw of stopped) raw.tcp.destroy();
});
