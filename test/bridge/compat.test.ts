// Do studio-bridge's own client and plugin work with this host? Their captured frames are replayed field by field.
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPeer } from "../fixtures/peer.ts";
import { envelope, openForeignClient, openPlugin } from "../fixtures/people.ts";
import { askRaw } from "../fixtures/raw-http.ts";
import { upgradeRequest } from "../fixtures/raw-peer.ts";
import { runHost } from "../fixtures/running-host.ts";
import {
  CLIENT_GOODBYE,
  PLUGIN_GOODBYE,
  SECOND_CAME,
  SECOND_REGISTER,
  SECOND_WENT,
  TALK,
} from "../fixtures/studio-bridge-frames.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";

setDefaultTimeout(60_000);

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** As captured; only the moment of the connection may differ, and must be a time all the same. */
const asCaptured = (frame: Record<string, unknown>): Record<string, unknown> => {
  const session = frame["session"] as Record<string, unknown> | undefined;
  return session ? { ...frame, session: { ...session, connectedAt: expect.stringMatching(ISO) } } : frame;
};

test("[CL3] a whole conversation of their client and plugin runs as it was captured, to the last field", async () => {
  using running = runHost({ auth: "none" });
  const client = await openPeer(running.url("/client"));
  const plugin = await openPeer(running.url("/plugin"));
  const told = new Map<string, string>();
  let clientHeard = 0;
  let pluginHeard = 0;
  for (const { way, frame } of TALK) {
    const captured = String(frame["requestId"]);
    if (way === "C→H") client.send(frame);
    if (way === "P→H") plugin.send(told.has(captured) ? { ...frame, requestId: told.get(captured) } : frame);
    if (way === "H→P") {
      const { requestId, ...rest } = await plugin.next(String(frame["type"]));
      const { requestId: _, ...wanted } = frame;
      expect(rest).toEqual(wanted as typeof rest);
      told.set(captured, String(requestId));
      pluginHeard++;
    }
    if (way === "H→C") {
      expect((await client.next(() => true)) as Record<string, unknown>).toEqual(asCaptured(frame));
      clientHeard++;
    }
  }
  const second = await openPeer(running.url("/plugin"));
  second.send(SECOND_REGISTER);
  expect((await client.next(() => true)) as unknown).toEqual(asCaptured(SECOND_CAME));
  second.close();
  expect((await client.next(() => true)) as unknown).toEqual(SECOND_WENT);
  await running.host.shutdown();
  expect((await client.next(() => true)) as unknown).toEqual(CLIENT_GOODBYE);
  expect((await plugin.next(() => true)) as unknown).toEqual(PLUGIN_GOODBYE);
  expect((await client.closed).code).toBe(1001);
  expect((await plugin.closed).code).toBe(1001);
  // Nothing was said beside what was captured.
  expect(client.seen).toHaveLength(clientHeard + 3);
  expect(plugin.seen).toHaveLength(pluginHeard + 1);
});

test("[CL3] their client hears of plugins and of the end before it has said a word", async () => {
  using running = runHost({ auth: "none" });
  const client = await openPeer(running.url("/client"));
  const plugin = await openPeer(running.url("/plugin"));
  plugin.send(SECOND_REGISTER);
  expect((await client.next(() => true)) as unknown).toEqual(asCaptured(SECOND_CAME));
  plugin.close();
  expect((await client.next(() => true)) as unknown).toEqual(SECOND_WENT);
  await running.host.shutdown();
  expect((await client.next(() => true)) as unknown).toEqual(CLIENT_GOODBYE);
  expect((await client.closed).code).toBe(1001);
  expect(client.seen).toHaveLength(3);
});

test("[CL3] [CL4] once it speaks it is told everything once, also by a host that took over", async () => {
  using running = runHost({ auth: "none", failover: true });
  const client = await openPeer(running.url("/client"));
  await client.next("host-ready");
  client.send({ type: "list-sessions", requestId: "one" });
  await client.next("list-sessions-response");
  const plugin = await openPeer(running.url("/plugin"));
  plugin.send(SECOND_REGISTER);
  await client.next("session-event");
  await running.host.shutdown();
  await client.closed;
  expect(client.seen.map(({ type }) => type)).toEqual([
    "host-ready",
    "list-sessions-response",
    "session-event",
    "host-transfer",
  ]);
});

test("[CL3] [SC2] a host with a token tells nothing to those who say nothing", async () => {
  using running = runHost();
  const client = await openPeer(running.url("/client"));
  const plugin = await openPlugin(running);
  await running.host.shutdown();
  await client.closed;
  expect(client.seen).toEqual([]);
  plugin.close();
});

test("[CL3] failures reach their client as an error result with session, request, code and message", async () => {
  using running = runHost({ auth: "none" });
  const client = await openForeignClient(running);
  client.send(envelope("gone", "nobody", "execute", { script: "1" }));
  expect((await client.next("host-response")) as unknown).toEqual({
    type: "host-response",
    requestId: "gone",
    result: {
      type: "error",
      sessionId: "nobody",
      requestId: "action-gone",
      payload: { code: "SESSION_NOT_FOUND", message: expect.any(String) },
    },
  });
});

test("[CL3] their action push goes through: syncActions, then registerAction for each that is needed", async () => {
  using running = runHost({ auth: "none" });
  const client = await openForeignClient(running);
  const plugin = await openPlugin(running);
  const sync = { actions: { execute: "ab", "query-logs": "cd" } };
  client.send(envelope("sync", "session-1", "syncActions", sync));
  const asked = await plugin.next("syncActions");
  expect(asked.payload).toEqual(sync);
  const needed = { needed: ["execute"], installed: { "query-logs": "cd" } };
  plugin.send({ type: "syncActionsResult", requestId: asked["requestId"], sessionId: "session-1", payload: needed });
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: needed });
  const source = { name: "execute", source: "return function() end", hash: "ab", responseType: "scriptComplete" };
  client.send(envelope("push", "session-1", "registerAction", source));
  const pushed = await plugin.next("registerAction");
  expect(pushed.payload).toEqual(source);
  const done = { name: "execute", success: true, hash: "ab", handlers: ["execute"] };
  plugin.send({ type: "registerActionResult", requestId: pushed["requestId"], sessionId: "session-1", payload: done });
  expect((await client.next("host-response"))["result"]).toMatchObject({ type: "registerActionResult", payload: done });
});

test("[CL3] their plugin reports a missing instance inside dataModelResult, and that is handed on as it is", async () => {
  using running = runHost({ auth: "none" });
  const client = await openForeignClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("d", "session-1", "queryDataModel", { path: "game.Nothing" }));
  const { requestId } = await plugin.next("queryDataModel");
  const payload = { success: false, code: "INSTANCE_NOT_FOUND", message: "no" };
  plugin.send({ type: "dataModelResult", requestId, sessionId: "session-1", payload });
  expect((await client.next("host-response"))["result"]).toMatchObject({ type: "dataModelResult", payload });
});

test("[CL3] their plugin connects by the name localhost, on whichever address that is", async () => {
  const clock = createTurnedClock();
  using running = runHost({ auth: "none", world: { clock } });
  clock.advance(0);
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    const url = (path: string) => `ws://${host}:${running.port}${path}`;
    const plugin = await openPlugin({ url }, { sessionId: host });
    expect(running.sessions.at(-1), host).toMatchObject({ event: "connected", sessionId: host });
    plugin.close();
  }
});

test("[CL3] an offer of permessage-deflate, as their client makes it, is no hindrance", async () => {
  using running = runHost({ auth: "none" });
  const offer = { "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits" };
  const answer = await askRaw(running.port, upgradeRequest("/client", offer));
  expect(answer.status).toBe(101);
  expect(answer.text).not.toMatch(/sec-websocket-extensions/i);
});

test("[CL3] types they do not know are ignored by us, so additions of theirs are safe too", async () => {
  using running = runHost({ auth: "none" });
  const client = await openForeignClient(running);
  client.send({ type: "brand-new", requestId: "n", anything: 1 });
  client.send({ type: "list-sessions", requestId: "l", more: true });
  expect((await client.next(() => true)) as unknown).toEqual({
    type: "list-sessions-response",
    requestId: "l",
    sessions: [],
  });
});

test("[CL3] a host with a token closes their client and says why", async () => {
  using running = runHost();
  const client = await openPeer(running.url("/client"));
  client.send({ type: "list-sessions", requestId: "l" });
  const { code, reason } = await client.closed;
  expect(code).toBe(1008);
  expect(reason).toContain("--auth none");
  expect(client.seen).toEqual([]);
});
