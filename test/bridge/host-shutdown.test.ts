// In which order does a host leave, and what do clients and plugins see of it?
import { expect, setDefaultTimeout, test } from "bun:test";
import { bind } from "../../src/platform/listen.ts";
import { openPeer } from "../fixtures/peer.ts";
import { answerTo, envelope, openClient, openPlugin } from "../fixtures/people.ts";
import { askRaw, getRequest } from "../fixtures/raw-http.ts";
import { openRawPeer } from "../fixtures/raw-peer.ts";
import { recordNet } from "../fixtures/recorded-net.ts";
import { runHost } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

/** Whether the port can be had right now. */
function isFree(port: number): boolean {
  const answer = () => ({ kind: "text" as const, status: 200, body: "" });
  const bound = bind({ address: "127.0.0.1", port, frameBytes: 1024, waitingBytes: 1024, answer });
  if (bound.kind === "bound") bound.listener.cut();
  return bound.kind === "bound";
}

test("[SD2] the order: transfer, drain, seal, [::1], 127.0.0.1, clients by rank, plugins", async () => {
  const { net, acts } = recordNet();
  const clock = createTurnedClock();
  using running = runHost({
    world: { net, clock },
    events: { seal: (handsOver) => void acts.push(`seal ${handsOver}`) },
  });
  clock.advance(0);
  const command = await openClient(running);
  const [first, second, third] = [
    await openClient(running, { standing: true }),
    await openClient(running, { standing: true }),
    await openClient(running, { standing: true }),
  ];
  const plugin = await openPlugin(running);
  // Who leaves and comes back stands at the end of the line.
  first.close();
  await second.count("succession", 2);
  const last = await openClient(running, { standing: true });
  expect((await last.next("succession"))["rank"]).toBe(2);
  command.send(envelope("q", "session-1", "queryState"));
  const asked = await plugin.next("queryState");
  acts.length = 0;
  const left = running.host.shutdown();
  await Promise.all([command, second, third, last].map((client) => client.next("host-transfer")));
  expect((await askRaw(running.port, getRequest("/health"))).status).toBe(503);
  plugin.send(answerTo(asked, "stateResult", {}));
  await Promise.all([command, second, third, last, plugin].map(({ closed }) => closed));
  clock.advance(100);
  await left;
  // Clients #1 command, #3 second, #4 third, #5 last.
  expect(acts.filter((act) => !act.startsWith("cut ") && !act.endsWith("succession"))).toEqual([
    "send /client#1 host-transfer",
    "send /client#3 host-transfer",
    "send /client#4 host-transfer",
    "send /client#5 host-transfer",
    "send /client#1 host-response",
    "seal true",
    "release ::1",
    "release 127.0.0.1",
    "close /client#3 1001",
    "close /client#4 1001",
    "close /client#5 1001",
    "close /client#1 1001",
    "send /plugin#1 shutdown",
    "close /plugin#1 1001",
  ]);
});

test("[SD2] the port is free before anybody hears the close", async () => {
  for (let round = 0; round < 10; round++) {
    using running = runHost();
    const peers = await Promise.all([
      openClient(running, { standing: true }),
      openClient(running),
      openPlugin(running),
      openPeer(running.url("/client")),
    ]);
    const found = peers.map((peer) => peer.closed.then(({ code }) => ({ code, free: isFree(running.port) })));
    await running.host.shutdown();
    expect(await Promise.all(found)).toEqual(peers.map(() => ({ code: 1001, free: true })));
  }
});

test("[SD2] with nothing in flight nothing waits: not a millisecond passes", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  void running.host.shutdown();
  expect(await client.closed).toEqual({ code: 1001, reason: "host shutting down" });
  expect(await plugin.closed).toEqual({ code: 1001, reason: "host shutting down" });
  expect(client.seen.at(-1) as unknown).toEqual({ type: "host-transfer" });
  expect(plugin.seen as unknown[]).toEqual([{ type: "shutdown", sessionId: "session-1", payload: {} }]);
});

test("[SD2] what is in flight may finish within 250 ms, and what is asked meanwhile is turned away", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("a", "session-1", "execute", { script: "1" }));
  const asked = await plugin.next("execute");
  void running.host.shutdown();
  await client.next("host-transfer");
  clock.advance(249);
  client.send(envelope("b", "session-1", "queryState"));
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: { code: "SESSION_DISCONNECTED" } });
  expect(plugin.isClosed).toBe(false);
  plugin.send(answerTo(asked, "scriptComplete", { success: true }));
  expect((await client.next("host-response"))["result"]).toMatchObject({ type: "scriptComplete" });
  expect((await client.closed).code).toBe(1001);
  expect(plugin.seen.map(({ type }) => type)).toEqual(["execute", "shutdown"]);
});

test("[SD2] after 250 ms what is still in flight ends with SESSION_DISCONNECTED, before the close", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("a", "session-1", "execute", { script: "1" }));
  await plugin.next("execute");
  void running.host.shutdown();
  await client.next("host-transfer");
  clock.advance(249);
  await client.settled();
  clock.advance(1);
  expect((await client.next("host-response"))["result"]).toMatchObject({ payload: { code: "SESSION_DISCONNECTED" } });
  expect((await client.closed).code).toBe(1001);
});

test("[SD2] sockets that never said who they are hear 1001 too", async () => {
  using running = runHost();
  const strangers = await Promise.all([openPeer(running.url("/client")), openPeer(running.url("/plugin"))]);
  await running.host.shutdown();
  for (const stranger of strangers) {
    expect((await stranger.closed).code).toBe(1001);
    expect(stranger.seen).toEqual([]);
  }
});

test("[SD2] an answer of 8 MiB that was given in time arrives whole, then the close", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  const plugin = await openPlugin(running);
  client.send(envelope("a", "session-1", "captureScreenshot"));
  const asked = await plugin.next("captureScreenshot");
  void running.host.shutdown();
  const data = "A".repeat(8 * 1024 * 1024);
  plugin.send(answerTo(asked, "screenshotResult", { data }));
  const { result } = (await client.next("host-response")) as unknown as { result: { payload: { data: string } } };
  expect(result.payload.data === data).toBe(true);
  expect((await client.closed).code).toBe(1001);
});

test("[SD3] peers that never answer the close, or stopped reading, are cut within 2 s", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const deaf = await Promise.all([openRawPeer(running.port, "/client"), openRawPeer(running.port, "/plugin")]);
  const stopped = await openRawPeer(running.port, "/plugin");
  stopped.send({ type: "hello", sessionId: "stopped", payload: {} });
  await stopped.next("welcome");
  stopped.stop();
  const client = await openClient(running);
  for (let index = 0; index < 12; index++) {
    client.send(
      envelope(`big${index}`, "stopped", "execute", { script: "x".repeat(1024 * 1024) }, { timeoutMs: 60_000 }),
    );
  }
  await client.settled();
  const left = running.host.shutdown();
  await client.next("host-transfer");
  clock.advance(250);
  await client.closed;
  for (let passed = 250; passed < 2_000; passed += 2) {
    clock.advance(2);
    await Promise.resolve();
  }
  await left;
  await Promise.all(deaf.map(({ gone }) => gone));
  stopped.resume();
  await stopped.gone;
  await until(() => running.host.clients === 0 && running.host.sessions === 0);
});

test("[SD3] shutdown is idempotent: the second call is the first", async () => {
  using running = runHost();
  const client = await openClient(running);
  const first = running.host.shutdown();
  expect(running.host.shutdown()).toBe(first);
  await first;
  expect(running.host.shutdown()).toBe(first);
  await client.closed;
  expect(client.seen.filter(({ type }) => type === "host-transfer")).toHaveLength(1);
});

test("[SD3] forceClose cuts everything at once and says nothing, also in the middle of a shutdown", async () => {
  for (const leaving of [false, true]) {
    const clock = createTurnedClock();
    const running = runHost({ world: { clock } });
    const client = await openClient(running);
    const plugin = await openPlugin(running);
    client.send(envelope("a", "session-1", "execute", { script: "1" }));
    await plugin.next("execute");
    if (leaving) void running.host.shutdown();
    running.host.forceClose();
    expect(isFree(running.port)).toBe(true);
    expect([(await client.closed).code, (await plugin.closed).code]).toEqual([1006, 1006]);
    expect(plugin.seen.some(({ type }) => type === "shutdown")).toBe(false);
    await until(() => running.host.clients === 0 && running.host.sessions === 0);
    running.host.forceClose();
  }
});
