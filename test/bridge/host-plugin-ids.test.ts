// What happens when two plugins propose the same session id? The living keep theirs, the dead are replaced.
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Peer } from "../fixtures/peer.ts";
import { openPeer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { OPCODE, openRawPeer, type RawPeer } from "../fixtures/raw-peer.ts";
import { type RunningHost, runHost } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const idsOf = async (client: Peer): Promise<string[]> => {
  client.send({ type: "list-sessions", requestId: "ids" });
  const { sessions } = (await client.next("list-sessions-response")) as unknown as {
    sessions: { sessionId: string }[];
  };
  return sessions.map(({ sessionId }) => sessionId);
};

/** A plugin whose process is frozen: connected and registered, and it answers no ping. */
async function openFrozenPlugin(running: RunningHost) {
  const frozen = await openRawPeer(running.port, "/plugin");
  frozen.send(registerFor());
  await until(() => running.host.sessions === 1);
  return frozen;
}

/** Resolves when the host has pinged it. */
const pinged = (frozen: RawPeer, times = 1) =>
  until(() => frozen.control.filter(({ opcode }) => opcode === OPCODE.ping).length >= times);

test("[PL3] two windows of one place live side by side, and each is asked under its own id", async () => {
  using running = runHost();
  const client = await openClient(running);
  const first = await openPlugin(running);
  const second = await openPlugin(running);
  await until(() => running.host.sessions === 2);
  const [one, two] = (await idsOf(client)) as [string, string];
  expect(one).toBe("session-1");
  expect(two).toMatch(UUID);
  client.send(envelope("a", one, "queryState"));
  client.send(envelope("b", two, "queryState"));
  first.send(answerTo(await first.next("queryState"), "stateResult", { of: "first" }));
  second.send(answerTo(await second.next("queryState"), "stateResult", { of: "second" }));
  const of = async (id: string) => (await client.next(({ requestId }) => requestId === id))["result"];
  expect(await of("a")).toMatchObject({ sessionId: one, payload: { of: "first" } });
  expect(await of("b")).toMatchObject({ sessionId: two, payload: { of: "second" } });
  expect([first.isClosed, second.isClosed]).toEqual([false, false]);
});

test("[PL3] an alias is rewritten both ways for a plugin that got no welcome", async () => {
  using running = runHost();
  const client = await openClient(running);
  await openPlugin(running);
  const second = await openPlugin(running);
  await until(() => running.host.sessions === 2);
  const alias = (await idsOf(client))[1] as string;
  client.send(envelope("sub", alias, "subscribe", { events: ["logPush"] }));
  const asked = await second.next("subscribe");
  expect(asked["sessionId"]).toBe("session-1");
  second.send(answerTo(asked, "subscribeResult", { events: ["logPush"] }));
  expect((await client.next("host-response"))["result"]).toMatchObject({ sessionId: alias });
  second.send({ type: "logPush", sessionId: "session-1", payload: { entry: 1 } });
  expect(await client.next("plugin-push")).toMatchObject({ sessionId: alias, message: { sessionId: alias } });
  second.send({ type: "stateChange", sessionId: "session-1", payload: { newState: "Play" } });
  expect(await client.next(({ event }) => event === "state-changed")).toMatchObject({ sessionId: alias });
  expect(second.seen.some(({ type }) => type === "welcome")).toBe(false);
});

test("[PL3] a plugin that wants a welcome is told its fresh id in it, and goes by that one", async () => {
  using running = runHost();
  const client = await openClient(running);
  await openPlugin(running);
  const second = await openPlugin(running, { protocolVersion: 2 });
  const welcome = await second.next("welcome");
  expect(welcome["sessionId"]).toMatch(UUID);
  expect(welcome.payload["sessionId"]).toBe(welcome["sessionId"]);
  client.send(envelope("q", String(welcome["sessionId"]), "queryState"));
  expect((await second.next("queryState"))["sessionId"]).toBe(welcome["sessionId"]);
});

test("[PL3] another instance or context gets a fresh id at once: nobody is pinged and nobody waits", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const frozen = await openFrozenPlugin(running);
  await openPlugin(running, { instanceId: "inst-2" });
  await openPlugin(running, { state: "Server" });
  expect(running.sessions.map(({ sessionId }) => sessionId)).toEqual([
    "session-1",
    expect.stringMatching(UUID),
    expect.stringMatching(UUID),
  ]);
  expect(frozen.control).toEqual([]);
});

test("[PL3] a frozen holder is replaced after 2 s without a pong, and not before", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const frozen = await openFrozenPlugin(running);
  client.send(envelope("lost", "session-1", "execute", { script: "1" }));
  await frozen.next("execute");
  const newcomer = await openPlugin(running);
  await pinged(frozen);
  clock.advance(1_999);
  await newcomer.settled();
  expect(running.sessions).toHaveLength(1);
  clock.advance(1);
  await frozen.gone;
  await newcomer.settled();
  expect(running.sessions.map(({ event, sessionId }) => [event, sessionId])).toEqual([
    ["connected", "session-1"],
    ["disconnected", "session-1"],
    ["connected", "session-1"],
  ]);
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: { code: "SESSION_DISCONNECTED" } });
  client.send(envelope("new", "session-1", "queryState"));
  await newcomer.next("queryState");
});

test("[PL3] two newcomers that wait for one frozen holder both live: one takes the id, one gets a fresh one", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const frozen = await openFrozenPlugin(running);
  const first = await openPlugin(running);
  const second = await openPlugin(running);
  await pinged(frozen, 2);
  clock.advance(2_000);
  await until(() => running.sessions.length >= 4);
  await Promise.all([first.settled(), second.settled()]);
  const ids = await idsOf(client);
  expect(ids).toEqual(["session-1", expect.stringMatching(UUID)]);
  for (const [index, plugin] of [first, second].entries()) {
    client.send(envelope(`q${index}`, ids[index] as string, "queryState"));
    await plugin.next("queryState");
  }
});

test("[PL3] a holder that leaves while the newcomer waits frees its id", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const frozen = await openFrozenPlugin(running);
  await openPlugin(running);
  await pinged(frozen);
  frozen.tcp.destroy();
  await until(() => running.host.sessions === 0);
  clock.advance(2_000);
  await until(() => running.host.sessions === 1);
  expect(running.sessions.at(-1)).toMatchObject({ event: "connected", sessionId: "session-1" });
});

test("[PL3] a newcomer that waits for the answer is not cut for being unregistered", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const frozen = await openFrozenPlugin(running);
  const newcomer = await openPeer(running.url("/plugin"));
  clock.advance(9_000);
  newcomer.send(registerFor());
  await pinged(frozen);
  clock.advance(1_500);
  await newcomer.settled();
  clock.advance(500);
  await until(() => running.sessions.length === 3);
  await newcomer.settled();
});

test("[PL3] frames that arrive meanwhile wait, in order and at most 64", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const frozen = await openFrozenPlugin(running);
  const newcomer = await openPlugin(running);
  await pinged(frozen);
  for (let index = 1; index <= 70; index++) {
    newcomer.send({ type: "stateChange", sessionId: "session-1", payload: { newState: `state ${index}` } });
  }
  await newcomer.settled();
  clock.advance(2_000);
  await client.next((frame) => frame["event"] === "state-changed" && JSON.stringify(frame).includes('"state 64"'));
  await newcomer.settled();
  const changes = running.sessions.filter(({ event }) => event === "state-changed");
  expect(changes.map(({ session }) => session?.state)).toEqual(
    Array.from({ length: 64 }, (_, at) => `state ${at + 1}`),
  );
  client.send({ type: "host-status", requestId: "s" });
  expect(await client.next("host-status-response")).toMatchObject({ status: { malformedFrames: 6 } });
});
