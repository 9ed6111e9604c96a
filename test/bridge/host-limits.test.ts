// Where does a host say no? Each limit with a coded error or a 503, and room again when somebody leaves.
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "../../src/bridge/join.ts";
import { createSystemWorld } from "../../src/platform/system.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { openPeer, type Peer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openPlugin, registerFor } from "../fixtures/people.ts";
import { askRaw } from "../fixtures/raw-http.ts";
import { encodeFrame, OPCODE, openRawPeer, upgradeRequest } from "../fixtures/raw-peer.ts";
import { runHost, TOKEN } from "../fixtures/running-host.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

const MIB = 1024 * 1024;

test("[LI1] the limits are these, unless somebody sets others", () => {
  expect(DEFAULT_SETTINGS.limits).toEqual({
    frameBytes: 16 * MIB,
    waitingBytes: 32 * MIB,
    requestsPerSession: 64,
    clients: 256,
    plugins: 256,
  });
});

test("[LI1] 64 requests may be pending per session, the next one is refused, and other sessions are not touched", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const other = await openPlugin(running, { sessionId: "other", instanceId: "other" });
  const [one, two] = await Promise.all([openClient(running), openClient(running)]);
  for (let index = 0; index < 64; index++) {
    (index % 2 ? one : two).send(envelope(`r${index}`, "session-1", "execute", { script: "1" }));
  }
  await plugin.count("execute", 64);
  one.send(envelope("over", "session-1", "queryState"));
  expect((await one.next("host-response"))["result"]).toEqual({
    type: "error",
    sessionId: "session-1",
    requestId: "action-over",
    payload: {
      code: "TOO_MANY_REQUESTS",
      message: 'Session "session-1" has 64 requests pending; wait for some to end',
    },
  });
  one.send(envelope("elsewhere", "other", "queryState"));
  await other.next("queryState");
  plugin.send(answerTo(await plugin.next("execute"), "scriptComplete", { success: true }));
  await two.next("host-response");
  one.send(envelope("again", "session-1", "queryState"));
  await plugin.next("queryState");
});

async function fill(running: ReturnType<typeof runHost>, path: "/client" | "/plugin"): Promise<Peer[]> {
  return await Promise.all(Array.from({ length: 256 }, () => openPeer(running.url(path))));
}

test("[LI1] the 257th client gets 503, health stays well, and there is room again when one leaves", async () => {
  using running = runHost();
  const peers = await fill(running, "/client");
  const answer = await askRaw(running.port, upgradeRequest("/client"));
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 503,
    body: "Full: 256 clients are connected",
  });
  const world = createSystemWorld({ info() {}, warn() {} });
  const options = { port: running.port, token: TOKEN, standing: false };
  expect(await join(world, options, { message() {}, closed() {} })).toEqual({ kind: "full" });
  await openPlugin(running);
  peers[0]?.close();
  await until(() => running.host.clients === 255);
  await openClient(running);
});

test("[LI1] the 257th plugin gets 503, and there is room again when one leaves", async () => {
  using running = runHost();
  const peers = await fill(running, "/plugin");
  const answer = await askRaw(running.port, upgradeRequest("/plugin"));
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 503,
    body: "Full: 256 plugins are connected",
  });
  await openClient(running);
  peers[0]?.close();
  await peers[0]?.closed;
  const late = await openPlugin(running);
  late.close();
});

const padded = (bytes: number): string => {
  const text = JSON.stringify(registerFor({ more: { padding: "" } }));
  return text.replace('"padding":""', `"padding":"${"x".repeat(bytes - text.length)}"`);
};

test("[LI1] a frame of 16 MiB is taken, one byte more is closed 1009, on both paths", async () => {
  using running = runHost();
  const plugin = await openPeer(running.url("/plugin"));
  plugin.send(padded(16 * MIB));
  await plugin.settled();
  expect(running.host.sessions).toBe(1);
  for (const path of ["/plugin", "/client"]) {
    const peer = await openPeer(running.url(path));
    peer.send(padded(16 * MIB + 1));
    expect((await peer.closed).code, path).toBe(1009);
  }
  await plugin.settled();
});

test("[LI1] a result that just fits reaches the client whole, though its envelope is larger than 16 MiB", async () => {
  using running = runHost();
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  client.send(envelope("shot", "session-1", "captureScreenshot"));
  const asked = await plugin.next("captureScreenshot");
  const empty = JSON.stringify(answerTo(asked, "screenshotResult", { data: "" }));
  const data = "A".repeat(16 * MIB - empty.length);
  plugin.send(answerTo(asked, "screenshotResult", { data }));
  const { result } = (await client.next("host-response")) as unknown as { result: { payload: { data: string } } };
  expect(result.payload.data === data).toBe(true);
});

test("[LI1] a message in many small pieces counts as one: past 16 MiB it is closed 1009", async () => {
  using running = runHost();
  const raw = await openRawPeer(running.port, "/client");
  const piece = Buffer.alloc(MIB, "x");
  raw.tcp.write(encodeFrame(OPCODE.text, piece, false));
  for (let pieces = 1; pieces < 16; pieces++) raw.tcp.write(encodeFrame(OPCODE.more, piece, false));
  raw.tcp.write(encodeFrame(OPCODE.more, Buffer.from("y"), false));
  expect((await raw.closed).code).toBe(1009);
});
