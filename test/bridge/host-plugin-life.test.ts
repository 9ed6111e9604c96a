// How long may a plugin be silent? Seconds pass by hand here; the sockets are real.
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPeer, type Peer } from "../fixtures/peer.ts";
import { openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { OPCODE, openRawPeer } from "../fixtures/raw-peer.ts";
import { runHost } from "../fixtures/running-host.ts";
import { createTurnedClock, type TurnedClock } from "../fixtures/turned-clock.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

/** Time goes by, and the peers that are well answer every ping in it. */
async function pass(clock: TurnedClock, ms: number, ...alive: Peer[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    clock.advance(Math.min(5_000, ms - passed));
    await Promise.all(alive.map((peer) => peer.settled()));
  }
}

const beat = { type: "heartbeat", sessionId: "session-1", payload: { uptimeMs: 1, state: "Edit", pendingRequests: 0 } };

test("[PL6] a socket that has not registered in 10 s is closed 1008, and not before", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const silent = await openPeer(running.url("/plugin"));
  const babbler = await openPeer(running.url("/plugin"));
  babbler.send({ type: "heartbeat", sessionId: "x", payload: {} });
  babbler.send({ type: "register", sessionId: "x", payload: { half: true } });
  clock.advance(9_999);
  await Promise.all([silent.settled(), babbler.settled()]);
  clock.advance(1);
  expect(await silent.closed).toEqual({ code: 1008, reason: "No register within 10 s" });
  expect((await babbler.closed).code).toBe(1008);
});

test("[PL6] a socket that registered in time stays", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const plugin = await openPeer(running.url("/plugin"));
  clock.advance(9_999);
  plugin.send(registerFor());
  await plugin.settled();
  clock.advance(10_000);
  await plugin.settled();
  expect(running.host.sessions).toBe(1);
});

test("[PL6] a plugin that announced heartbeats is stale after 45 s and dropped after 60 s, though it answers pings", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running, { capabilities: ["execute", "heartbeat"] });
  await pass(clock, 40_000, client, plugin);
  expect(running.sessions).toHaveLength(1);
  await pass(clock, 5_000, client, plugin);
  expect(running.sessions[1]).toMatchObject({ event: "state-changed", session: { stale: true } });
  await pass(clock, 10_000, client, plugin);
  expect(running.host.sessions).toBe(1);
  expect(running.sessions).toHaveLength(2);
  await pass(clock, 5_000, client);
  expect(await plugin.closed).toMatchObject({ code: 1006 });
  await until(() => running.host.sessions === 0);
  expect(running.sessions.at(-1)).toMatchObject({ event: "disconnected", sessionId: "session-1" });
});

test("[PL6] a heartbeat, or any other frame, makes a stale plugin fresh again", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running, { capabilities: ["heartbeat"] });
  await pass(clock, 45_000, client, plugin);
  plugin.send(beat);
  await plugin.settled();
  expect(running.sessions.at(-1)).toMatchObject({ event: "state-changed", session: { stale: false } });
  for (let round = 0; round < 10; round++) {
    await pass(clock, 15_000, client, plugin);
    plugin.send(beat);
    await plugin.settled();
  }
  expect(running.sessions).toHaveLength(3);
});

test("[PL6] a plugin without heartbeats lives by its pongs, and is dropped after 60 s without any", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const well = await openPlugin(running, { sessionId: "well", instanceId: "well" });
  const frozen = await openRawPeer(running.port, "/plugin");
  frozen.send(registerFor());
  await until(() => running.host.sessions === 2);
  await pass(clock, 55_000, client, well);
  expect(running.host.sessions).toBe(2);
  await pass(clock, 5_000, client, well);
  await frozen.gone;
  await pass(clock, 120_000, client, well);
  expect(running.host.sessions).toBe(1);
  expect(well.isClosed).toBe(false);
});

test("[PL6] the host pings plugins and clients every 15 s", async () => {
  const clock = createTurnedClock();
  using running = runHost({ auth: "none", world: { clock } });
  const plugin = await openRawPeer(running.port, "/plugin");
  const client = await openRawPeer(running.port, "/client");
  plugin.send(registerFor());
  await until(() => running.host.sessions === 1);
  const pings = (peer: typeof plugin) => peer.control.filter(({ opcode }) => opcode === OPCODE.ping).length;
  clock.advance(5_000);
  clock.advance(9_999);
  plugin.send({ type: "odd", sessionId: "", requestId: "before", payload: {} });
  await plugin.next("error");
  client.send({ type: "list-sessions", requestId: "before" });
  await client.next("list-sessions-response");
  expect([pings(plugin), pings(client)]).toEqual([0, 0]);
  for (let beats = 1; beats <= 3; beats++) {
    clock.advance(beats === 1 ? 1 : 15_000);
    await until(() => pings(plugin) === beats && pings(client) === beats);
  }
});

test("[PL6] the host answers a plugin's ping", async () => {
  using running = runHost();
  const plugin = await openRawPeer(running.port, "/plugin");
  plugin.frame(OPCODE.ping, Buffer.from("are you there"));
  await until(() => plugin.control.length === 1);
  expect(plugin.control[0]?.opcode).toBe(OPCODE.pong);
});

test("[PL6] time that this machine slept is not held against anybody", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const plugin = await openPlugin(running, { capabilities: ["heartbeat"] });
  clock.leap(3_600_000);
  await plugin.settled();
  expect(running.sessions).toHaveLength(1);
  clock.leap(3_600_000);
  await plugin.settled();
  expect(running.sessions).toHaveLength(1);
});
