// Who hears what a plugin pushes? Those who subscribed, and nobody else.
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Peer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openForeignClient, openPlugin } from "../fixtures/people.ts";
import { runHost } from "../fixtures/running-host.ts";

setDefaultTimeout(60_000);

async function subscribe(client: Peer, plugin: Peer, events: string[], type = "subscribe"): Promise<unknown> {
  client.send(envelope(type, "session-1", type, { events }));
  plugin.send(answerTo(await plugin.next(type), `${type}Result`, { events }));
  return (await client.next(({ requestId }) => requestId === type))["result"];
}

const push = (type: string, payload: object = {}) => ({ type, sessionId: "session-1", payload });

test("[PL7] a push goes to those who subscribed to it, as plugin-push, and to nobody else", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const [subscriber, bystander, other] = await Promise.all([
    openClient(running),
    openClient(running),
    openClient(running),
  ]);
  await subscribe(subscriber, plugin, ["logPush", "output"]);
  await subscribe(other, plugin, ["stateChange"]);
  plugin.send(push("logPush", { entry: { level: "Print", body: "hi", timestamp: 1 } }));
  plugin.send(push("output", { messages: [] }));
  await plugin.settled();
  expect((await subscriber.next("plugin-push")) as unknown).toEqual({
    type: "plugin-push",
    sessionId: "session-1",
    message: {
      type: "logPush",
      sessionId: "session-1",
      payload: { entry: { level: "Print", body: "hi", timestamp: 1 } },
    },
  });
  expect(await subscriber.next("plugin-push")).toMatchObject({ message: { type: "output" } });
  await Promise.all([bystander.settled(), other.settled()]);
  for (const client of [bystander, other]) expect(client.seen.some(({ type }) => type === "plugin-push")).toBe(false);
});

test("[PL7] heartbeats are never handed on, not even to those who ask for them", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  await subscribe(client, plugin, ["heartbeat"]);
  plugin.send(push("heartbeat", { uptimeMs: 1 }));
  await plugin.settled();
  await client.settled();
  expect(client.seen.some(({ type }) => type === "plugin-push")).toBe(false);
});

test("[PL7] a push that comes ahead of the answer to subscribe is not lost", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  client.send(envelope("s", "session-1", "subscribe", { events: ["logPush"] }));
  const asked = await plugin.next("subscribe");
  plugin.send(push("logPush"));
  plugin.send(answerTo(asked, "subscribeResult", { events: ["logPush"] }));
  await client.next("plugin-push");
});

test("[PL7] a subscription that the plugin refuses is none", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  client.send(envelope("s", "session-1", "subscribe", { events: ["logPush"] }));
  plugin.send(answerTo(await plugin.next("subscribe"), "error", { code: "UNKNOWN_REQUEST", message: "no" }));
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: { code: "UNKNOWN_REQUEST" } });
  plugin.send(push("logPush"));
  await plugin.settled();
  await client.settled();
  expect(client.seen.some(({ type }) => type === "plugin-push")).toBe(false);
});

test("[PL7] a client without client-hello gets a push as a host-response with an unknown request id", async () => {
  using running = runHost({ auth: "none" });
  const plugin = await openPlugin(running);
  const foreign = await openForeignClient(running);
  await subscribe(foreign, plugin, ["stateChange"]);
  plugin.send(push("stateChange", { previousState: "Edit", newState: "Play", timestamp: 1 }));
  const response = await foreign.next("host-response");
  expect(["first-list", "subscribe", "action-subscribe"]).not.toContain(String(response["requestId"]));
  expect(response["requestId"]).toBeString();
  expect(response["result"]).toEqual({
    type: "stateChange",
    sessionId: "session-1",
    payload: { previousState: "Edit", newState: "Play", timestamp: 1 },
  });
});

test("[PL7] stateChange updates the session and is told to all clients as state-changed", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  plugin.send(push("stateChange", { newState: "Play" }));
  const event = await client.next("session-event");
  expect(event).toMatchObject({ event: "state-changed", sessionId: "session-1", session: { state: "Play" } });
  client.send({ type: "list-sessions", requestId: "l" });
  expect(await client.next("list-sessions-response")).toMatchObject({ sessions: [{ state: "Play" }] });
});

test("[PL7] subscribers are counted: only the last one out unsubscribes the plugin", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const [first, second] = await Promise.all([openClient(running), openClient(running)]);
  await subscribe(first, plugin, ["logPush", "output"]);
  await subscribe(second, plugin, ["logPush"]);
  first.send(envelope("u1", "session-1", "unsubscribe", { events: ["logPush"] }));
  expect(await first.next(({ requestId }) => requestId === "u1")).toMatchObject({
    result: { type: "unsubscribeResult", requestId: "action-u1", payload: { events: ["logPush"] } },
  });
  await plugin.settled();
  expect(plugin.seen.some(({ type }) => type === "unsubscribe")).toBe(false);
  plugin.send(push("logPush"));
  await second.next("plugin-push");
  await first.settled();
  expect(first.seen.some(({ type }) => type === "plugin-push")).toBe(false);
  expect(await subscribe(second, plugin, ["logPush"], "unsubscribe")).toMatchObject({ type: "unsubscribeResult" });
  plugin.send(push("logPush"));
  await plugin.settled();
  await second.settled();
  expect(second.seen.filter(({ type }) => type === "plugin-push")).toHaveLength(1);
});

test("[PL7] a client that is gone, however it went, is out: the plugin is told what nobody wants any more", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const [first, second] = await Promise.all([openClient(running), openClient(running)]);
  await subscribe(first, plugin, ["logPush", "output"]);
  await subscribe(second, plugin, ["logPush"]);
  first.cut();
  expect((await plugin.next("unsubscribe")).payload).toEqual({ events: ["output"] });
  second.close();
  expect((await plugin.next("unsubscribe")).payload).toEqual({ events: ["logPush"] });
});

test("[PL7] subscriptions end with the session: its next connection pushes to nobody", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  await subscribe(client, plugin, ["logPush"]);
  plugin.close();
  await client.next(({ event }) => event === "disconnected");
  const back = await openPlugin(running);
  back.send(push("logPush"));
  await back.settled();
  await client.settled();
  expect(client.seen.some(({ type }) => type === "plugin-push")).toBe(false);
});

test("[PL7] a second subscribe that fails leaves the first one as it was", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  await subscribe(client, plugin, ["logPush"]);
  client.send(envelope("again", "session-1", "subscribe", { events: ["logPush", "output"] }));
  plugin.send(answerTo(await plugin.next("subscribe"), "error", { code: "NO", message: "not now" }));
  await client.next(({ requestId }) => requestId === "again");
  plugin.send(push("output", { messages: [] }));
  plugin.send(push("logPush", { entry: {} }));
  expect(await client.next("plugin-push")).toMatchObject({ message: { type: "logPush" } });
});

test("[PL7] [LI1] the last one out unsubscribes the plugin, also when it has as many requests pending as it may", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const [leaver, asker] = await Promise.all([openClient(running), openClient(running)]);
  await subscribe(leaver, plugin, ["logPush"]);
  for (let number = 0; number < 64; number++) asker.send(envelope(`q${number}`, "session-1", "queryState"));
  for (let number = 0; number < 64; number++) await plugin.next("queryState");
  leaver.close();
  expect(await plugin.next("unsubscribe")).toMatchObject({ payload: { events: ["logPush"] } });
});
