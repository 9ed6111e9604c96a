// How can an endpoint fail when it is connected to? One small server for each way.
import { createServer, type Socket } from "node:net";

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

/** A full backlog: the SYN is never answered. */
async function blackHole(): Promise<Faulty> {
  return await at(listen(() => undefined));
}

export const FAULTS: Readonly<Record<string, () => Promise<Faulty>>> = {
  "connection refused": refused,
  "connection reset": () => at(listen((socket) => socket.resetAndDestroy())),
  "closed at once": () => at(listen((socket) => socket.end())),
  "black hole": blackHole,
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
