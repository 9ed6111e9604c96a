// What may a client ask of a host, and what does it get back?
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPeer, type Peer } from "../fixtures/peer.ts";
import {
  answerTo,
  challengeHost,
  clientProof,
  envelope,
  helloFor,
  hostProof,
  newNonce,
  openClient,
  openPlugin,
} from "../fixtures/people.ts";
import { runHost } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

const resultOf = async (client: Peer, id: string) => (await client.next(({ requestId }) => requestId === id))["result"];

test("[CL1] an envelope is relayed under a host-unique id and answered under the caller's own", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const [one, two] = await Promise.all([openClient(running), openClient(running)]);
  one.send(envelope("same", "session-1", "queryState"));
  two.send(envelope("same", "session-1", "queryState"));
  const [first, second] = [await plugin.next("queryState"), await plugin.next("queryState")];
  expect(first["requestId"]).not.toBe(second["requestId"]);
  expect([first["requestId"], second["requestId"]]).not.toContain("action-same");
  plugin.send({ ...answerTo(second, "stateResult", { n: 2 }), extra: "kept" });
  plugin.send(answerTo(first, "stateResult", { n: 1 }));
  const results = [await resultOf(one, "same"), await resultOf(two, "same")];
  const common = { type: "stateResult", sessionId: "session-1", requestId: "action-same" };
  expect(results).toContainEqual({ ...common, payload: { n: 1 } });
  expect(results).toContainEqual({ ...common, payload: { n: 2 }, extra: "kept" });
});

test("[CL1] an action without a request id of its own is answered without one", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  const action = { type: "execute", sessionId: "session-1", payload: { script: "1" } };
  client.send({ type: "host-envelope", requestId: "e", targetSessionId: "session-1", action });
  const asked = await plugin.next("execute");
  expect(asked["requestId"]).toBeString();
  plugin.send(answerTo(asked, "scriptComplete", { success: true }));
  expect(await resultOf(client, "e")).toEqual({
    type: "scriptComplete",
    sessionId: "session-1",
    payload: { success: true },
  });
});

test("[CL1] [IF5] a request expires after timeoutMs, else after its action's default, and not before", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  const defaults = {
    own: 7_000,
    queryState: 5_000,
    subscribe: 5_000,
    queryDataModel: 10_000,
    queryLogs: 10_000,
    syncActions: 10_000,
    registerAction: 10_000,
    captureScreenshot: 30_000,
    execute: 120_000,
  };
  for (const [action, limitMs] of Object.entries(defaults)) {
    const payload = { script: "1", path: "game", events: ["logPush"] };
    client.send(envelope(action, "session-1", action, payload, action === "own" ? { timeoutMs: limitMs } : {}));
    await plugin.next(action);
    // In steps, and with pongs: nobody may be dropped for silence meanwhile.
    for (let left = limitMs - 1; left > 0; left -= 5_000) {
      clock.advance(Math.min(left, 5_000));
      await Promise.all([plugin.settled(), client.settled()]);
    }
    expect(
      client.seen.some(({ requestId }) => requestId === action),
      action,
    ).toBe(false);
    clock.advance(1);
    expect(await resultOf(client, action)).toEqual({
      type: "error",
      sessionId: "session-1",
      requestId: `action-${action}`,
      payload: { code: "TIMEOUT", message: `The plugin did not answer "${action}" within ${limitMs} ms` },
    });
  }
});

test("[CL1] SESSION_NOT_FOUND: nobody has that id", async () => {
  using running = runHost();
  const client = await openClient(running);
  client.send(envelope("x", "nobody", "queryState"));
  expect(await resultOf(client, "x")).toEqual({
    type: "error",
    sessionId: "nobody",
    requestId: "action-x",
    payload: { code: "SESSION_NOT_FOUND", message: 'There is no session "nobody" on this host' },
  });
});

test("[CL1] SESSION_DISCONNECTED: the plugin leaves while it is asked, however it leaves", async () => {
  using running = runHost();
  const client = await openClient(running);
  for (const how of ["close", "cut"] as const) {
    const plugin = await openPlugin(running);
    client.send(envelope(how, "session-1", "execute", { script: "1" }));
    await plugin.next("execute");
    plugin[how]();
    expect(await resultOf(client, how)).toMatchObject({
      type: "error",
      sessionId: "session-1",
      requestId: `action-${how}`,
      payload: { code: "SESSION_DISCONNECTED" },
    });
  }
});

test("[CL1] INVALID_PAYLOAD: what cannot be right is refused and never reaches the plugin", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  const bad = [
    envelope("a", "session-1", "execute", { script: 7 }),
    envelope("b", "session-1", "queryDataModel", {}),
    envelope("c", "session-1", "subscribe", { events: "logPush" }),
    { type: "host-envelope", requestId: "d", targetSessionId: "session-1" },
    { type: "host-envelope", requestId: "e", targetSessionId: "session-1", action: { type: "execute", payload: [] } },
    { ...envelope("f", "session-1", "queryState"), timeoutMs: -1 },
    { ...envelope("g", "session-1", "queryState"), targetSessionId: 7 },
  ];
  for (const message of bad) {
    client.send(message);
    const result = await resultOf(client, String((message as { requestId: string }).requestId));
    expect(result).toMatchObject({ type: "error", payload: { code: "INVALID_PAYLOAD" } });
  }
  await plugin.settled();
  expect(plugin.seen).toEqual([]);
});

test("[CL1] a client that is gone is answered by nobody, and its request frees its place when it ends", async () => {
  using running = runHost({ limits: { requestsPerSession: 1 } });
  const plugin = await openPlugin(running);
  const [leaver, stayer] = await Promise.all([openClient(running), openClient(running)]);
  leaver.send(envelope("q", "session-1", "queryState"));
  const asked = await plugin.next("queryState");
  leaver.cut();
  await until(() => running.host.clients === 1);
  stayer.send(envelope("early", "session-1", "queryState"));
  expect(await resultOf(stayer, "early")).toMatchObject({ payload: { code: "TOO_MANY_REQUESTS" } });
  plugin.send(answerTo(asked, "stateResult", {}));
  await plugin.settled();
  stayer.send(envelope("late", "session-1", "queryState"));
  plugin.send(answerTo(await plugin.next("queryState"), "stateResult", { ok: true }));
  expect(await resultOf(stayer, "late")).toMatchObject({ payload: { ok: true } });
});

test("[CL2] connectedAt is an ISO string in lists and in events", async () => {
  using running = runHost();
  const client = await openClient(running);
  const before = Date.now();
  await openPlugin(running);
  const event = (await client.next("session-event"))["session"] as { connectedAt: string };
  client.send({ type: "list-sessions", requestId: "l" });
  const { sessions } = (await client.next("list-sessions-response")) as unknown as {
    sessions: { connectedAt: string }[];
  };
  for (const { connectedAt } of [event, ...sessions]) {
    expect(new Date(connectedAt).toISOString()).toBe(connectedAt);
    expect(Date.parse(connectedAt)).toBeGreaterThanOrEqual(before);
  }
});

test("[CL1] list-instances groups the contexts of one instance", async () => {
  using running = runHost();
  for (const state of ["Edit", "Client", "Server"]) await openPlugin(running, { sessionId: state, state });
  await openPlugin(running, { sessionId: "other", instanceId: "inst-2" });
  const client = await openClient(running);
  client.send({ type: "list-instances", requestId: "i" });
  const common = { placeName: "TestPlace", placeId: 0, gameId: 0, origin: "user" };
  expect((await client.next("list-instances-response"))["instances"]).toEqual([
    { instanceId: "inst-1", contexts: ["edit", "client", "server"], ...common },
    { instanceId: "inst-2", contexts: ["edit"], ...common },
  ]);
});

test("[SC2] a nonce that comes with the upgrade is answered at once and once; another one is answered too", async () => {
  using running = runHost();
  const nonce = newNonce();
  const client = await openPeer(running.url("/client"), { "x-holdfast-nonce": nonce });
  const hello = await client.next("host-hello");
  const own = String(hello["nonce"]);
  expect(hello["proof"]).toBe(hostProof(nonce, own));
  // Said again, as for an older host: it would void the proof that is on its way.
  client.send({ type: "client-challenge", nonce });
  client.send(helloFor(clientProof(nonce, own)));
  client.send({ type: "list-sessions", requestId: "list" });
  expect(await client.next("list-sessions-response")).toMatchObject({ sessions: [] });

  const short = await openPeer(running.url("/client"), { "x-holdfast-nonce": "short" });
  const { nonce: right, hello: answer } = await challengeHost(short);
  expect(answer["proof"]).toBe(hostProof(right, String(answer["nonce"])));
});
