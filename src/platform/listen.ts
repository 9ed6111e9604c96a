// How is the port taken and served? The bound listening socket is the election.
import { createBatch } from "./batch.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import type { Attach, BindOptions, Bound, HttpRequest, Socket, SocketEvents } from "./world.ts";

interface SocketData {
  attach: Attach;
  events?: SocketEvents;
  outbox?: Outbox;
  /** We said that we close: nothing that still comes in counts. */
  leaving?: true;
}

type ServerSocket = Bun.ServerWebSocket<SocketData>;

const HEADERS_SECONDS = 10;
const ORIGIN = "http://127.0.0.1";
const SLOW_CLOSE_MS = 10_000;

function toSocket(ws: ServerSocket, waitingBytes: number): Socket {
  const overflow = () => {
    ws.close(1013, "Too far behind: the queue for this receiver is full");
    // The close frame waits behind what the runtime buffered; a receiver that never reads is cut.
    setTimeout(() => ws.terminate(), SLOW_CLOSE_MS).unref();
  };
  const outbox = createOutbox(
    { send: (text) => ws.send(text), buffered: () => ws.getBufferedAmount() },
    waitingBytes,
    overflow,
  );
  ws.data.outbox = outbox;
  const write = (text: string): void => {
    if (ws.readyState === WebSocket.OPEN) outbox.push(text);
  };
  const batch = createBatch(write, (run) => void ws.cork(run), setImmediate);
  return {
    send: batch.push,
    ping: () => void ws.ping(),
    close(code, reason) {
      batch.flush();
      ws.data.leaving = true;
      // The runtime tells the close at once and forgets our queue: what waits there goes first.
      outbox.finish(() => ws.close(code, reason));
    },
    cut: () => ws.terminate(),
  };
}

export function bind(options: BindOptions): Bound {
  try {
    // SO_REUSEADDR is on by default and must stay so: without it the port of a dead host stays busy for a minute.
    // `reusePort` is never set: with it two hosts could listen at once, and the port would be no lock.
    const server = Bun.serve<SocketData>({
      hostname: options.address,
      port: options.port,
      idleTimeout: HEADERS_SECONDS,
      maxRequestBodySize: 64 * 1024,
      fetch(request, self) {
        // A Host header that is no name makes no URL; it is the door that turns it away.
        const url = URL.parse(request.url, ORIGIN) ?? new URL(ORIGIN);
        const asked: HttpRequest = {
          method: request.method,
          path: url.pathname,
          query: url.searchParams,
          header: (name) => request.headers.get(name),
          upgrade: request.headers.get("upgrade")?.toLowerCase() === "websocket",
        };
        const answer = options.answer(asked);
        if (answer.kind === "json") return Response.json(answer.body, { status: answer.status });
        if (answer.kind === "text") return new Response(answer.body, { status: answer.status });
        if (self.upgrade(request, { data: { attach: answer.attach } })) return undefined;
        return new Response("Bad Request: not a WebSocket handshake", { status: 400 });
      },
      error: () => new Response("Internal Server Error", { status: 500 }),
      websocket: {
        maxPayloadLength: options.frameBytes,
        // Never reached: the outbox stops at the first sign of backpressure.
        backpressureLimit: 2 * options.waitingBytes,
        idleTimeout: 0,
        sendPings: false,
        open(ws) {
          ws.data.events = ws.data.attach(toSocket(ws, options.waitingBytes));
        },
        message(ws, frame) {
          if (ws.data.leaving) return;
          try {
            ws.data.events?.message(typeof frame === "string" ? frame : frame.toString("utf8"));
          } catch (thrown) {
            // Here it would end the process, and everybody behind it.
            options.threw?.(thrown);
            ws.close(1011, "Internal error");
          }
        },
        pong: (ws) => ws.data.events?.pong(),
        drain: (ws) => ws.data.outbox?.drained(),
        close(ws, code, reason) {
          ws.data.outbox?.clear();
          ws.data.events?.closed(code, reason);
        },
      },
    });
    return {
      kind: "bound",
      listener: {
        port: server.port as number,
        release: () => void server.stop(false),
        cut: () => void server.stop(true),
      },
    };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const code = "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
    return code === "EADDRINUSE" ? { kind: "taken" } : { kind: "failed", code, error };
  }
}
