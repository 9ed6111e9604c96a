// What can become of an attempt to reach a port? Open, refused, broken, silent or denied, and never an exception.
import { expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server, type Socket as TcpSocket } from "node:net";
import { connect, probe } from "../../src/platform/dial.ts";
import type { Attach, ConnectOptions } from "../../src/platform/world.ts";
import { until } from "../fixtures/until.ts";

setDefaultTimeout(60_000);

interface Answering extends Disposable {
  port: number;
  sockets: TcpSocket[];
  requests: string[];
}

async function answering(
  onData: (socket: TcpSocket) => void,
  onOpen: (socket: TcpSocket) => void = () => {},
): Promise<Answering> {
  const sockets: TcpSocket[] = [];
  const requests: string[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      requests.push(String(chunk));
      onData(socket);
    });
    onOpen(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    sockets,
    requests,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const never: Attach = () => {
  throw new Error("Nobody may be attached here");
};
const dial = (port: number, more: Partial<ConnectOptions> = {}, attach = never) =>
  connect({ port, path: "/client", timeoutMs: 20_000, ...more }, attach);

async function freePort(): Promise<number> {
  using server = await answering(() => {});
  return server.port;
}

const http = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;

test("[TK4] refused: nobody listens", async () => {
  expect(await dial(await freePort())).toEqual({ kind: "refused" });
});

test("[TK4] broken: somebody takes the connection and drops it, before or after the request", async () => {
  using atOnce = await answering(
    () => {},
    (socket) => socket.destroy(),
  );
  expect(await dial(atOnce.port)).toEqual({ kind: "broken" });
  using afterwards = await answering((socket) => socket.destroy());
  expect(await dial(afterwards.port)).toEqual({ kind: "broken" });
});

test("[HO5] broken: somebody speaks no HTTP", async () => {
  using ssh = await answering((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
  expect(await dial(ssh.port)).toEqual({ kind: "broken" });
});

test("[HO5] denied: somebody speaks HTTP and answers with another status, which is told", async () => {
  for (const status of [200, 400, 401, 403, 404, 426, 500, 503]) {
    using server = await answering((socket) => socket.end(http(`${status} Whatever`)));
    expect(await dial(server.port)).toEqual({ kind: "denied", status });
  }
});

test("[TK4] silent: somebody listens and says nothing within the limit; the connection is given up, and stays so", async () => {
  using mute = await answering(() => {});
  const since = performance.now();
  expect(await dial(mute.port, { timeoutMs: 100 })).toEqual({ kind: "silent" });
  expect(performance.now() - since).toBeGreaterThanOrEqual(99);
  const [socket] = mute.sockets;
  await until(() => socket?.destroyed === true || socket?.readableEnded === true);
});

test("[TK4] an answer that comes after silence was told attaches nobody", async () => {
  using late = await answering(() => {});
  expect(await dial(late.port, { timeoutMs: 50 })).toEqual({ kind: "silent" });
  late.sockets[0]?.write(http("101 Switching Protocols"));
  await until(() => late.sockets[0]?.destroyed === true || late.sockets[0]?.readableEnded === true);
});

interface Echo extends Disposable {
  port: number;
  asked: { url: string; headers: Headers }[];
  say(what: "close" | "cut"): void;
}

function echoing(): Echo {
  const asked: Echo["asked"] = [];
  let last: Bun.ServerWebSocket<undefined> | undefined;
  const server = Bun.serve<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request, self) {
      asked.push({ url: request.url, headers: request.headers });
      return self.upgrade(request, { data: undefined }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      open(ws) {
        last = ws;
        // In the same breath as the upgrade: it must not be lost.
        ws.send("first");
      },
      message: (ws, text) => void ws.send(`echo ${text}`),
    },
  });
  return {
    port: server.port as number,
    asked,
    say: (what) => (what === "close" ? last?.close(1001, "bye") : last?.terminate()),
    [Symbol.dispose]: () => void server.stop(true),
  };
}

test("[TK4] open: frames go both ways from the first on, pings are answered, and the end is told once", async () => {
  for (const [how, end] of [
    ["close", [1001, "bye"]],
    ["cut", [1006, ""]],
  ] as const) {
    using echo = echoing();
    const heard: unknown[] = [];
    const headers = { Authorization: "Bearer x" };
    const opened = await dial(echo.port, { path: "/plugin", headers }, () => ({
      message: (text) => void heard.push(text),
      pong: () => void heard.push("pong"),
      closed: (code, reason) => void heard.push([code, reason]),
    }));
    expect(opened.kind).toBe("open");
    if (opened.kind !== "open") return;
    await until(() => heard.length === 1);
    opened.socket.send("hi");
    opened.socket.ping();
    await until(() => heard.length === 3);
    expect(heard).toEqual(["first", "echo hi", "pong"]);
    expect(new URL(echo.asked[0]?.url ?? "").pathname).toBe("/plugin");
    expect(echo.asked[0]?.headers.get("authorization")).toBe("Bearer x");
    expect(echo.asked[0]?.headers.get("origin")).toBeNull();
    echo.say(how);
    await until(() => heard.length === 4);
    expect(heard[3]).toEqual([...end]);
    // Nothing of this may throw any more.
    opened.socket.send("late");
    opened.socket.ping();
    opened.socket.close(1000, "");
    opened.socket.cut();
  }
});

test("[HO2] it is 127.0.0.1 that is dialled: a listener on [::1] alone is nobody", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "::1", resolve));
  const { port } = server.address() as { port: number };
  expect(await dial(port)).toEqual({ kind: "refused" });
  expect(await probe(port, 20_000)).toEqual({ kind: "refused" });
  server.close();
});

test("[RC2] a probe tells status and body, refusal and silence", async () => {
  using well = await answering((socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
  );
  expect(await probe(well.port, 20_000)).toEqual({ kind: "answer", status: 200, body: "ok" });
  expect(well.requests[0]).toStartWith("GET /health HTTP/1.1\r\n");
  using closing = await answering((socket) => socket.end(http("503 Service Unavailable")));
  expect(await probe(closing.port, 20_000)).toEqual({ kind: "answer", status: 503, body: "" });
  using mute = await answering(() => {});
  expect(await probe(mute.port, 50)).toEqual({ kind: "silent" });
  expect(await probe(await freePort(), 20_000)).toEqual({ kind: "refused" });
});

test("[RC2] a probe follows no redirect and keeps no long body", async () => {
  using away = await answering((socket) =>
    socket.end("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
  );
  expect(await probe(away.port, 20_000)).toMatchObject({ kind: "answer", status: 302 });
  const body = "x".repeat(1024 * 1024);
  using long = await answering((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`),
  );
  const answer = await probe(long.port, 20_000);
  expect(answer.kind === "answer" && answer.body.length).toBe(64 * 1024);
});
