// How is the port taken and served? One real listener at a time, looked at from outside.
import { expect, setDefaultTimeout, test } from "bun:test";
import { bind } from "../../src/platform/listen.ts";
import type { BindOptions, HttpAnswer, HttpRequest, Listener, Socket } from "../../src/platform/world.ts";
import { openPeer } from "../fixtures/peer.ts";
import { askRaw, getRequest } from "../fixtures/raw-http.ts";
import { openRawPeer, upgradeRequest } from "../fixtures/raw-peer.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

interface Serving extends Disposable {
  listener: Listener;
  port: number;
  url: string;
  sockets: Socket[];
  heard: string[];
  closes: unknown[];
}

function serve(more: Partial<BindOptions> = {}): Serving {
  const sockets: Socket[] = [];
  const heard: string[] = [];
  const closes: unknown[] = [];
  const attach = (socket: Socket) => {
    sockets.push(socket);
    return {
      message: (text: string) => void heard.push(text),
      pong: () => void heard.push("(pong)"),
      closed: (code: number, reason: string) => void closes.push([code, reason]),
    };
  };
  const bound = bind({
    address: "127.0.0.1",
    port: 0,
    frameBytes: 1024 * 1024,
    waitingBytes: 32 * 1024 * 1024,
    answer: () => ({ kind: "upgrade", attach }),
    ...more,
  });
  if (bound.kind !== "bound") throw new Error(`Not bound: ${JSON.stringify(bound)}`);
  const { listener } = bound;
  const { port } = listener;
  return {
    listener,
    port,
    url: `ws://127.0.0.1:${port}/`,
    sockets,
    heard,
    closes,
    [Symbol.dispose]: () => listener.cut(),
  };
}

const tryBind = (port: number) =>
  bind({
    address: "127.0.0.1",
    port,
    frameBytes: 1,
    waitingBytes: 1,
    answer: () => ({ kind: "text", status: 200, body: "" }),
  });

test("[HO1] a taken port is a value, not an exception", () => {
  using serving = serve();
  expect(tryBind(serving.port)).toEqual({ kind: "taken" });
});

test("[TK6] any other failure to bind has its code and its error", () => {
  const bound = tryBind(70_000);
  expect(bound).toMatchObject({ kind: "failed", code: expect.any(String), error: expect.any(Error) });
});

test("[SD2] release frees the port at once, and open sockets work on", async () => {
  using serving = serve();
  const peer = await openPeer(serving.url);
  serving.listener.release();
  const next = tryBind(serving.port);
  expect(next.kind).toBe("bound");
  peer.send('{"type":"still"}');
  await until(() => serving.heard.length === 1);
  serving.sockets[0]?.send('{"type":"there"}');
  await peer.next("there");
  expect(peer.isClosed).toBe(false);
  if (next.kind === "bound") next.listener.cut();
});

test("[SD3] cut ends every socket and frees the port", async () => {
  using serving = serve();
  const peers = await Promise.all([openPeer(serving.url), openPeer(serving.url)]);
  serving.listener.cut();
  await Promise.all(peers.map(({ closed }) => closed));
  const next = tryBind(serving.port);
  expect(next.kind).toBe("bound");
  if (next.kind === "bound") next.listener.cut();
});

test("[HE2] the request is told as it came, and the answer goes back as it was given", async () => {
  const asked: HttpRequest[] = [];
  const answers: HttpAnswer[] = [
    { kind: "json", status: 201, body: { a: 1 } },
    { kind: "text", status: 418, body: "Short and stout" },
  ];
  using serving = serve({
    answer(request) {
      asked.push(request);
      return answers[asked.length - 1] as HttpAnswer;
    },
  });
  const json = await askRaw(serving.port, getRequest("/a/b?token=x%20y", { "X-One": "1" }));
  expect({ status: json.status, body: json.body }).toEqual({ status: 201, body: '{"a":1}' });
  const text = await askRaw(serving.port, upgradeRequest("/c").replace("websocket", "WebSocket"));
  expect({ status: text.status, body: text.body }).toEqual({ status: 418, body: "Short and stout" });
  const [first, second] = asked;
  expect({ method: first?.method, path: first?.path, upgrade: first?.upgrade }).toEqual({
    method: "GET",
    path: "/a/b",
    upgrade: false,
  });
  expect([first?.query.get("token"), first?.header("x-one"), first?.header("X-Two")]).toEqual(["x y", "1", null]);
  expect(second?.upgrade).toBe(true);
});

test("[SC4] an upgrade that is no handshake is 400, and an answer that throws is 500 and ends nothing", async () => {
  let throws = false;
  using serving = serve({
    answer() {
      if (throws) throw new Error("secret detail");
      return { kind: "upgrade", attach: () => ({ message() {}, pong() {}, closed() {} }) };
    },
  });
  expect((await askRaw(serving.port, getRequest("/"))).status).toBe(400);
  throws = true;
  const broken = await askRaw(serving.port, getRequest("/"));
  expect({ status: broken.status, body: broken.body }).toEqual({ status: 500, body: "Internal Server Error" });
  throws = false;
  await openPeer(serving.url);
});

test("[PL8] binary frames are told as text", async () => {
  using serving = serve();
  const peer = await openPeer(serving.url);
  peer.send(Buffer.from("grüße"));
  peer.send("text");
  await until(() => serving.heard.length === 2);
  expect(serving.heard).toEqual(["grüße", "text"]);
});

test("[PL6] a ping of ours is answered, and the pong is told", async () => {
  using serving = serve();
  await openPeer(serving.url);
  serving.sockets[0]?.ping();
  await until(() => serving.heard.length === 1);
  expect(serving.heard).toEqual(["(pong)"]);
});

test("[SD2] close says code and reason, cut says nothing, and both are told once", async () => {
  using serving = serve();
  const peers = [await openPeer(serving.url), await openPeer(serving.url)];
  serving.sockets[0]?.close(1008, "because");
  serving.sockets[1]?.cut();
  expect(await Promise.all(peers.map(({ closed }) => closed))).toEqual([
    { code: 1008, reason: "because" },
    { code: 1006, reason: "" },
  ]);
  await until(() => serving.closes.length === 2);
  for (const socket of serving.sockets) {
    socket.send("late");
    socket.ping();
    socket.close(1000, "again");
    socket.cut();
  }
  expect(serving.closes).toEqual([
    [1008, "because"],
    [1006, ""],
  ]);
});

test("[SD2] what was sent before a close arrives before it, however much waits", async () => {
  using serving = serve();
  const raw = await openRawPeer(serving.port, "/");
  raw.stop();
  const body = "x".repeat(64 * 1024);
  for (let n = 0; n < 400; n++) serving.sockets[0]?.send(JSON.stringify({ type: "frame", n, body }));
  serving.sockets[0]?.close(1001, "bye");
  serving.sockets[0]?.send('{"type":"after"}');
  expect(serving.closes).toEqual([]);
  raw.resume();
  expect(await raw.closed).toEqual({ code: 1001, reason: "bye" });
  expect(raw.seen.map(({ n }) => n)).toEqual(Array.from({ length: 400 }, (_, n) => n));
});

test("[SC2] what comes in after we said that we close does not count", async () => {
  using serving = serve();
  const raw = await openRawPeer(serving.port, "/");
  raw.stop();
  const body = "x".repeat(1024 * 1024);
  for (let n = 0; n < 20; n++) serving.sockets[0]?.send(JSON.stringify({ type: "frame", body }));
  raw.send("before");
  await until(() => serving.heard.length === 1);
  serving.sockets[0]?.close(1008, "no");
  raw.send("after");
  raw.resume();
  await raw.closed;
  await until(() => serving.closes.length === 1);
  expect(serving.heard).toEqual(["before"]);
});

test("[LI1] a frame beyond the limit is closed 1009", async () => {
  using serving = serve({ frameBytes: 1_000 });
  const peer = await openPeer(serving.url);
  peer.send("x".repeat(1_000));
  await until(() => serving.heard.length === 1);
  peer.send("x".repeat(1_001));
  expect((await peer.closed).code).toBe(1009);
});

test("[PL8] a bug while a frame is handled closes that socket, is told, and leaves the others alone", async () => {
  const thrown: unknown[] = [];
  const heard: string[] = [];
  using serving = serve({
    threw: (error) => void thrown.push(error),
    answer: () => ({
      kind: "upgrade",
      attach: () => ({
        message(text) {
          if (text.includes("bad")) throw new Error("a bug");
          heard.push(text);
        },
        pong() {},
        closed() {},
      }),
    }),
  });
  const [bad, good] = await Promise.all([openPeer(serving.url), openPeer(serving.url)]);
  bad.send({ type: "bad" });
  expect((await bad.closed).code).toBe(1011);
  good.send({ type: "good" });
  await until(() => heard.length === 1);
  expect(thrown).toHaveLength(1);
});
