// How does a plugin become a session, and what passes between it and those who ask it?
import { expect, setDefaultTimeout, test } from "bun:test";
import { VERSION } from "../../src/protocol/version.ts";
import { openPeer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { runHost } from "../fixtures/running-host.ts";

setDefaultTimeout(60_000);

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test("[PL1] register makes a session with everything it said", async () => {
  using running = runHost();
  const client = await openClient(running);
  const more = { context: "server", placeId: 7, gameId: 8, placeFile: "/home/me/a.rbxl", pid: 99 };
  await openPlugin(running, { state: "Edit", more });
  const event = await client.next("session-event");
  const session = {
    sessionId: "session-1",
    placeName: "TestPlace",
    placeFile: "/home/me/a.rbxl",
    state: "Edit",
    pluginVersion: "2.0.0-test",
    capabilities: ["execute", "queryState"],
    connectedAt: expect.stringMatching(ISO),
    origin: "user",
    context: "server",
    instanceId: "inst-1",
    placeId: 7,
    gameId: 8,
  };
  expect(event as unknown).toEqual({
    type: "session-event",
    event: "connected",
    sessionId: "session-1",
    context: "server",
    instanceId: "inst-1",
    session,
  });
  client.send({ type: "list-sessions", requestId: "l" });
  expect((await client.next("list-sessions-response"))["sessions"]).toEqual([session]);
});

test("[PL1] a missing context, or one that is none, is derived from the state", async () => {
  using running = runHost();
  const cases = [
    ["Server", "server"],
    ["Client", "client"],
    ["Edit", "edit"],
    ["Play", "edit"],
    ["Paused", "edit"],
    ["Run", "edit"],
    ["server", "edit"],
    ["anything", "edit"],
  ] as const;
  for (const [state, context] of cases) {
    const plugin = await openPlugin(running, { sessionId: `of-${state}`, state });
    expect(running.sessions.at(-1), state).toMatchObject({ event: "connected", context, session: { state, context } });
    plugin.close();
  }
  await openPlugin(running, { sessionId: "odd", state: "Client", more: { context: "nonsense", placeId: "x" } });
  expect(running.sessions.at(-1)).toMatchObject({ context: "client", session: { placeId: 0 } });
});

test("[PL1] capabilities that are no text are left out, and an empty session id gets a fresh one", async () => {
  using running = runHost();
  await openPlugin(running, { sessionId: "", capabilities: ["execute", 7, null, "own"] });
  const [event] = running.sessions;
  expect(event?.session?.capabilities).toEqual(["execute", "own"]);
  expect(event?.sessionId).toMatch(/^[0-9a-f-]{36}$/);
});

test("[PL1] a second register on the same socket updates the session and makes no second one", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const connectedAt = running.sessions[0]?.session?.connectedAt;
  plugin.send(registerFor({ state: "Client", capabilities: ["queryLogs"], protocolVersion: 2 }));
  expect((await plugin.next("welcome"))["sessionId"]).toBe("session-1");
  expect(running.host.sessions).toBe(1);
  expect(running.sessions.map(({ event }) => event)).toEqual(["connected", "state-changed"]);
  expect(running.sessions[1]?.session).toMatchObject({ state: "Client", context: "client", connectedAt });
});

test("[PL2] a register without protocolVersion is answered by nothing at all", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  plugin.send({
    type: "heartbeat",
    sessionId: "session-1",
    payload: { uptimeMs: 1, state: "Edit", pendingRequests: 0 },
  });
  await plugin.settled();
  expect(running.host.sessions).toBe(1);
  expect(plugin.seen).toEqual([]);
});

test("[PL2] a register with protocolVersion is welcomed, before anything is asked of it", async () => {
  using running = runHost();
  const client = await openClient(running);
  void client.next("session-event").then(() => client.send(envelope("q", "session-1", "queryState")));
  const plugin = await openPlugin(running, { protocolVersion: 2, capabilities: ["execute", "heartbeat", "own"] });
  await plugin.next("queryState");
  expect(plugin.seen[0] as unknown).toEqual({
    type: "welcome",
    sessionId: "session-1",
    protocolVersion: 2,
    payload: { sessionId: "session-1", capabilities: ["execute", "heartbeat"], serverVersion: VERSION },
  });
});

test("[PL2] hello is welcomed too, and its session stands for itself", async () => {
  using running = runHost();
  const plugin = await openPeer(running.url("/plugin"));
  plugin.send({ type: "hello", sessionId: "old-one", payload: { sessionId: "old-one", capabilities: ["execute"] } });
  expect(await plugin.next("welcome")).toMatchObject({ sessionId: "old-one", protocolVersion: 2 });
  const session = { instanceId: "old-one", context: "edit", capabilities: ["execute"] };
  expect(running.sessions[0]).toMatchObject({ sessionId: "old-one", session });
});

test("[PL4] each kind of result is matched by its request id, whatever the order", async () => {
  using running = runHost();
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  const results = {
    execute: "scriptComplete",
    queryState: "stateResult",
    captureScreenshot: "screenshotResult",
    queryDataModel: "dataModelResult",
    queryLogs: "logsResult",
    subscribe: "subscribeResult",
    registerAction: "registerActionResult",
    syncActions: "syncActionsResult",
  };
  const payload = { script: "1", path: "game", events: ["logPush"] };
  const asked = [];
  for (const action of Object.keys(results)) {
    client.send(envelope(action, "session-1", action, payload));
    asked.push(await plugin.next(action));
  }
  expect(new Set(asked.map((each) => each["requestId"])).size).toBe(asked.length);
  for (const each of asked.reverse()) {
    plugin.send(answerTo(each, results[each.type as keyof typeof results], { for: each.type }));
  }
  for (const [action, type] of Object.entries(results)) {
    const response = await client.next(({ requestId }) => requestId === action);
    expect(response["result"]).toEqual({
      type,
      sessionId: "session-1",
      requestId: `action-${action}`,
      payload: { for: action },
    });
  }
});

test("[PL4] error codes are open: the plugin's own code reaches the caller", async () => {
  using running = runHost();
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("shot", "session-1", "captureScreenshot"));
  plugin.send(
    answerTo(await plugin.next("captureScreenshot"), "error", { code: "PIXEL_READ_FAILED", message: "no", x: 1 }),
  );
  expect((await client.next("host-response"))["result"]).toMatchObject({
    type: "error",
    payload: { code: "PIXEL_READ_FAILED", message: "no", x: 1 },
  });
});

test("[PL4] a result counts only from the socket that was asked", async () => {
  using running = runHost();
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  const thief = await openPlugin(running, { sessionId: "session-2", instanceId: "inst-2" });
  client.send(envelope("q", "session-1", "queryState"));
  const asked = await plugin.next("queryState");
  thief.send(answerTo(asked, "stateResult", { state: "stolen" }));
  thief.send({
    type: "error",
    sessionId: "session-1",
    requestId: asked["requestId"],
    payload: { code: "X", message: "" },
  });
  await thief.settled();
  plugin.send(answerTo(asked, "stateResult", { state: "true" }));
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: { state: "true" } });
  await client.settled();
  expect(client.seen.filter(({ type }) => type === "host-response")).toHaveLength(1);
});

test("[PL4] Lua's empty table arrives as [] and is handed on as {}", async () => {
  using running = runHost();
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("sync", "session-1", "syncActions", { actions: {} }));
  plugin.send(answerTo(await plugin.next("syncActions"), "syncActionsResult", []));
  expect((await client.next("host-response"))["result"]).toEqual({
    type: "syncActionsResult",
    sessionId: "session-1",
    requestId: "action-sync",
    payload: {},
  });
  plugin.send({ type: "heartbeat", sessionId: "session-1", payload: [] });
  await plugin.settled();
  expect(plugin.seen).toHaveLength(1);
});

test("[PL5] every action reaches the plugin unchanged but for its request id", async () => {
  using running = runHost();
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  const actions = {
    execute: { script: "print(1)", extra: [1, { deep: null }] },
    queryState: {},
    captureScreenshot: { format: "png" },
    queryDataModel: {
      path: "game.Workspace",
      depth: 2,
      properties: ["Name"],
      includeAttributes: true,
      find: { name: "x", recursive: true },
      listServices: false,
    },
    queryLogs: { count: 5, direction: "head", levels: ["Print"], includeInternal: true },
    subscribe: { events: ["logPush"] },
    registerAction: { name: "own", source: "return {}", hash: "ab", responseType: "ownResult" },
    syncActions: { actions: { execute: "00ff" } },
    own: { anything: "goes" },
  };
  for (const [type, payload] of Object.entries(actions)) {
    client.send(envelope(type, "session-1", type, payload));
    const { requestId, ...rest } = await plugin.next(type);
    expect(rest as unknown).toEqual({ type, sessionId: "session-1", payload });
    expect(requestId).not.toBe(`action-${type}`);
  }
});

test("[PL5] shutdown and error are one-way: they are sent on, and nothing waits for an answer", async () => {
  using running = runHost();
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("end", "session-1", "shutdown"));
  expect(await plugin.next("shutdown")).toMatchObject({ sessionId: "session-1", payload: {} });
  expect(await client.next("host-response")).toMatchObject({ requestId: "end", result: { type: "sent" } });
});
