// How is a host reached? Always by the literal 127.0.0.1: `localhost` may be another process on [::1].
import type { Attach, Connected, ConnectOptions, Probed, Socket, SocketEvents } from "./world.ts";

/** Bun's WebSocket has more than the browser's. */
type ClientSocket = WebSocket & { ping(): void; terminate(): void };

const toSocket = (ws: ClientSocket): Socket => ({
  send: (text) => {
    if (ws.readyState === WebSocket.OPEN) ws.send(text);
  },
  ping: () => {
    if (ws.readyState === WebSocket.OPEN) ws.ping();
  },
  close: (code, reason) => ws.close(code, reason),
  cut: () => ws.terminate(),
});

/** The runtime tells these only in words. */
const REFUSED = "Failed to connect";
const STATUS = /Expected 101 status code: (\d{3})/;

export function connect(options: ConnectOptions, attach: Attach): Promise<Connected> {
  return new Promise((resolve) => {
    const url = `ws://127.0.0.1:${options.port}${options.path}`;
    const ws = new WebSocket(url, { headers: options.headers ?? {} } as unknown as string[]) as ClientSocket;
    const socket = toSocket(ws);
    let events: SocketEvents | undefined;
    let failure: Connected = { kind: "broken" };
    const timer = setTimeout(() => {
      failure = { kind: "silent" };
      ws.terminate();
      resolve(failure);
    }, options.timeoutMs);
    ws.addEventListener("open", () => {
      clearTimeout(timer);
      events = attach(socket);
      resolve({ kind: "open", socket });
    });
    ws.addEventListener("message", (event: MessageEvent) => events?.message(String(event.data)));
    ws.addEventListener("pong" as "message", () => events?.pong());
    ws.addEventListener("error", (event) => {
      const { message } = event as ErrorEvent;
      const status = STATUS.exec(message)?.[1];
      if (status !== undefined) failure = { kind: "denied", status: Number(status) };
      else if (message.includes(REFUSED)) failure = { kind: "refused" };
    });
    ws.addEventListener("close", (event: CloseEvent) => {
      clearTimeout(timer);
      if (events) events.closed(event.code, event.reason);
      else resolve(failure);
    });
  });
}

const BODY_BYTES = 64 * 1024;

/** A stranger may stream for ever. */
async function beginningOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= BODY_BYTES) break;
  }
  return Buffer.concat(parts).toString("utf8", 0, BODY_BYTES);
}

export async function probe(port: number, timeoutMs: number): Promise<Probed> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/health`, {
      signal: AbortSignal.timeout(timeoutMs),
      keepalive: false,
      redirect: "manual",
      headers: { connection: "close" },
    });
    return { kind: "answer", status: response.status, body: await beginningOf(response) };
  } catch (thrown) {
    return { kind: thrown instanceof Error && thrown.name === "TimeoutError" ? "silent" : "refused" };
  }
}
