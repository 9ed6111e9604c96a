// What does a host do with frames that make no sense? It counts them, answers requests, and goes on.
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPeer, type Peer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { runHost } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";

setDefaultTimeout(60_000);

const malformedOf = async (client: Peer): Promise<number> => {
  client.send({ type: "host-status", requestId: "status" });
  return ((await client.next("host-status-response"))["status"] as { malformedFrames: number }).malformedFrames;
};

const BAD = [
  "",
  "{",
  '{"type":',
  "null",
  "7",
  '"register"',
  "[]",
  "[[[]]]",
  "{}",
  '{"type":7}',
  '{"type":null,"payload":{}}',
  '{"type":"register"}',
  '{"type":"register","sessionId":"s"}',
  '{"type":"register","sessionId":7,"payload":{}}',
  '{"type":"register","sessionId":"s","payload":[]}',
  '{"type":"register","sessionId":"s","payload":{"instanceId":""}}',
  '{"type":"hello"}',
  '{"type":"challenge","sessionId":"","payload":{"nonce":"short"}}',
  '{"type":"__proto__","sessionId":"s","payload":{}}',
  '{"type":"constructor","sessionId":"s","payload":{"__proto__":{"x":1}}}',
  '{"type":"stateChange","sessionId":"s","payload":{}}',
  "\u0000",
  "\uFEFF{}",
];

test("[PL8] malformed frames and unknown types never close the socket: they are counted and otherwise passed over", async () => {
  using running = runHost();
  const client = await openClient(running);
  const early = await openPeer(running.url("/plugin"));
  for (const text of BAD) early.send(text);
  await early.settled();
  expect(await malformedOf(client)).toBe(BAD.length);
  early.send(registerFor());
  await early.settled();
  expect(running.host.sessions).toBe(1);
  for (const text of BAD) early.send(text);
  await early.settled();
  expect(await malformedOf(client)).toBe(2 * BAD.length);
  expect(early.seen).toEqual([]);
});

test("[PL8] a binary frame is read as UTF-8 text", async () => {
  using running = runHost();
  const plugin = await openPeer(running.url("/plugin"));
  plugin.send(Buffer.from(JSON.stringify(registerFor())));
  await plugin.settled();
  expect(running.host.sessions).toBe(1);
  plugin.send(Buffer.from([0xff, 0xfe, 0x00]));
  await plugin.settled();
});

test("[PL8] an unknown request with a request id is answered with an error under that id", async () => {
  using running = runHost();
  const plugin = await openPeer(running.url("/plugin"));
  plugin.send({ type: "fetchMoon", sessionId: "s", requestId: "r1", payload: {} });
  expect((await plugin.next("error")) as unknown).toEqual({
    type: "error",
    sessionId: "s",
    requestId: "r1",
    payload: { code: "NOT_REGISTERED", message: "Send register first" },
  });
  plugin.send({ type: "register", sessionId: "s", requestId: "r2", payload: { instanceId: 7 } });
  expect(await plugin.next("error")).toMatchObject({ requestId: "r2", payload: { code: "INVALID_PAYLOAD" } });
  plugin.send(registerFor());
  plugin.send({ type: "fetchMoon", sessionId: "s", requestId: "r3", payload: {} });
  expect(await plugin.next("error")).toMatchObject({ requestId: "r3", payload: { code: "UNKNOWN_REQUEST" } });
});

test("[PL8] an error is never answered, whatever it says", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const welcome = { code: "UNKNOWN_REQUEST", message: "Unknown message type: welcome" };
  plugin.send({ type: "error", sessionId: "s", payload: welcome });
  plugin.send({ type: "error", sessionId: "s", requestId: "unknown", payload: welcome });
  plugin.send({ type: "error", sessionId: "s", requestId: "", payload: [] });
  await plugin.settled();
  expect(plugin.seen).toEqual([]);
});

test("[PL8] a late result is never answered: not after a timeout, not twice, not from before this host", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("q", "session-1", "queryState", {}, { timeoutMs: 100 }));
  const asked = await plugin.next("queryState");
  clock.advance(100);
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: { code: "TIMEOUT" } });
  plugin.send(answerTo(asked, "stateResult", {}));
  plugin.send(answerTo(asked, "error", { code: "X", message: "" }));
  // An action of the plugin's own may name its answer as it likes.
  plugin.send(answerTo(asked, "moonPhase", {}));
  plugin.send({ type: "scriptComplete", sessionId: "s", requestId: "hf-0123abcd-7", payload: { success: true } });
  const results =
    "scriptComplete stateResult screenshotResult dataModelResult logsResult subscribeResult unsubscribeResult";
  for (const type of [...results.split(" "), "registerActionResult", "syncActionsResult", "ownResult"]) {
    plugin.send({ type, sessionId: "s", requestId: "9d6e34be-7f01-4aa6-8a38-834b421dbddb", payload: {} });
  }
  await plugin.settled();
  expect(plugin.seen.map(({ type }) => type)).toEqual(["queryState"]);
  await client.settled();
  expect(client.seen.filter(({ type }) => type === "host-response")).toHaveLength(1);
});

test("[PL8] an empty request id counts as none", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  plugin.send({ type: "fetchMoon", sessionId: "s", requestId: "", payload: {} });
  await plugin.settled();
  expect(plugin.seen).toEqual([]);
});

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

test("[PL8] a frame nested so deep that it could not be written again is malformed, and ends nobody", async () => {
  using running = runHost({ auth: "none" });
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("sub", "session-1", "subscribe", { events: ["logPush"] }));
  plugin.send(answerTo(await plugin.next("subscribe"), "subscribeResult", {}));
  await client.next("host-response");
  for (const depth of [100_000, 1_000_000]) {
    plugin.send(`{"type":"logPush","sessionId":"session-1","payload":{"x":${nested(depth)}}}`);
    plugin.send(
      `{"type":"odd","requestId":"r","sessionId":"session-1","payload":${'{"x":'.repeat(depth)}1${"}".repeat(depth)}}`,
    );
    client.send(
      `{"type":"host-envelope","requestId":"deep","targetSessionId":"session-1","action":{"type":"own","payload":{"x":${nested(depth)}}}}`,
    );
  }
  plugin.send(
    `{"type":"logPush","sessionId":"session-1","payload":{"x":${nested(500)},"text":${JSON.stringify('"[\\'.repeat(5_000))}}}`,
  );
  const pushed = await client.next("plugin-push");
  expect(JSON.stringify(pushed)).toContain(nested(500));
  client.send(envelope("q", "session-1", "queryState"));
  plugin.send(answerTo(await plugin.next("queryState"), "stateResult", { state: "Edit" }));
  await client.next(({ requestId }) => requestId === "q");
});
