// How can an endpoint fail when it is connected to? One small server for each way.
import { connect, createServer, type Socket } from "node:net";

export interface Faulty {
  readonly url: string;
  end(): void;
}

interface Listening {
  port: number;
  end(): void;
}

/** Raw, so that every step can go wrong. */
async function listen(handle: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    end() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const answer = (status: number, body: string, headers = ""): string =>
  `HTTP/1.1 ${status} X\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;

const onRequest = (run: (socket: Socket, head: string) => void) => (socket: Socket) => {
  let head = "";
  socket.on("data", (bytes) => {
    head += bytes.toString("latin1");
    if (!head.includes("\r\n\r\n")) return;
    const whole = head;
    head = "";
    run(socket, whole);
  });
};

const accept = (head: string): string => {
  const key = /sec-websocket-key: (.*)\r/i.exec(head)?.[1] ?? "";
  return new Bun.CryptoHasher("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
};

/** `/json/version` is in order, and the WebSocket it names is not. */
const behindVersion = (upgraded: (socket: Socket, head: string) => void): Promise<Listening> => {
  const made = Promise.withResolvers<Listening>();
  const handle = onRequest((socket, head) => {
    if (/upgrade: websocket/i.test(head)) return upgraded(socket, head);
    void made.promise.then(({ port }) => {
      const body = JSON.stringify({ Browser: "X", webSocketDebuggerUrl: `ws://127.0.0.1:${port}/devtools/browser/1` });
      socket.end(answer(200, body));
    });
  });
  void listen(handle).then(made.resolve);
  return made.promise;
};

const upgrade = (socket: Socket, head: string): void =>
  void socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept(head)}\r\n\r\n`,
  );

const at = async (made: Promise<Listening>, scheme = "http"): Promise<Faulty> => {
  const { port, end } = await made;
  return { url: `${scheme}://127.0.0.1:${port}`, end };
};

const status = (code: number) => () =>
  at(listen(onRequest((socket) => socket.end(answer(code, "{}", code === 429 ? "retry-after: 60\r\n" : "")))));
const webSocketStatus = (code: number) => () => at(behindVersion((socket) => socket.end(answer(code, "{}"))));

async function refused(): Promise<Faulty> {
  const { port, end } = await listen(() => undefined);
  end();
  return { url: `http://127.0.0.1:${port}`, end() {} };
}

/** Listens and accepts nobody: its loop is held up by a read that ends when we do. */
const DEAF = `const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  require("node:fs").writeSync(1, server.address().port + "\\n");
  require("node:fs").readSync(0, Buffer.alloc(1));
  process.exit();
});`;
/** Bun takes no smaller backlog than 512. */
const MOST_BACKLOG = 5_000;
const FULL_MS = 1_000;

/** A full backlog: the SYN is never answered. */
async function blackHole(): Promise<Faulty> {
  const child = Bun.spawn([process.execPath, "-e", DEAF], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const sockets: Socket[] = [];
  const end = (): void => {
    child.kill("SIGKILL");
    for (const socket of sockets) socket.destroy();
  };
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const isTaken = async (): Promise<boolean> => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => undefined);
    const taken = new Promise<boolean>((resolve) => socket.once("connect", () => resolve(true)));
    return await Promise.race([taken, Bun.sleep(FULL_MS).then(() => false)]);
  };
  // Twice: on a busy machine one may only have been late.
  while ((await isTaken()) || (await isTaken())) {
    if (sockets.length < MOST_BACKLOG) continue;
    end();
    throw new Error(`The backlog took ${MOST_BACKLOG} and is not full`);
  }
  return { url: `http://127.0.0.1:${port}`, end };
}

export const FAULTS: Readonly<Record<string, () => Promise<Faulty>>> = {
  "connection refused": refused,
  "connection reset": () => at(listen((socket) => socket.resetAndDestroy())),
  "closed at once": () => at(listen((socket) => socket.end())),
  "black hole": blackHole,
  mute: () => at(listen(() => undefined)),
  "mute CDP": () => at(behindVersion(upgrade)),
  ...Object.fromEntries(
    [401, 403, 404, 429, 500, 502, 503, 504].map((code) => [`HTTP ${code} on /json/version`, status(code)]),
  ),
  ...Object.fromEntries([401, 429, 503].map((code) => [`WebSocket ${code}`, webSocketStatus(code)])),
  "dropped after the upgrade": () =>
    at(
      behindVersion((socket, head) => {
        upgrade(socket, head);
        socket.destroy();
      }),
    ),
  "TLS to a plain port": () =>
    at(
      listen((socket) => void socket.once("data", () => socket.end(answer(400, "")))),
      "https",
    ),
  "unknown host": async () => ({ url: "http://no-such-host.invalid:9222", end() {} }),
};
