// Who sits on a port that is not his? It answers /health like a host, takes every WebSocket and keeps what it was sent.
import { createHmac, randomBytes } from "node:crypto";
import { until } from "./until.ts";

export type Manner =
  /** Claims to be a host, with a proof that is none. */
  | "liar"
  /** Sends back whatever it gets. */
  | "mirror"
  /** Takes the connection and says nothing. */
  | "mute"
  /** Gives orders at once, without any proof. */
  | "bossy";

export interface Stranger {
  readonly frames: { path: string; text: string }[];
  readonly requests: { path: string; headers: Record<string, string> }[];
  leave(): void;
}

interface Data {
  path: string;
}

type Peer = Bun.ServerWebSocket<Data>;

const health = (port: number) => ({
  status: "ok",
  port,
  sessions: 0,
  uptime: 60_000,
  hostUptime: 60_000,
  lastFailoverAt: null,
  protocolVersion: 2,
  serverVersion: "0.1.0",
});

const ORDERS = [
  { type: "welcome", sessionId: "x", payload: { sessionId: "x", capabilities: ["execute"] } },
  { type: "execute", sessionId: "x", requestId: "1", payload: { script: "globalThis.fooled = true" } },
  { type: "host-ready" },
  { type: "succession", rank: 0 },
];

const hex = () => randomBytes(32).toString("hex");
const lies = (path: string): object =>
  path === "/plugin"
    ? { type: "challengeResult", sessionId: "", payload: { nonce: hex(), proof: hex() } }
    : { type: "host-hello", nonce: hex(), proof: hex(), version: "0.1.0", protocolVersion: 2, pid: 1 };

function listen(port: number, message: (peer: Peer, text: string) => void, open: (peer: Peer) => void) {
  const frames: Stranger["frames"] = [];
  const requests: Stranger["requests"] = [];
  const server = Bun.serve<Data>({
    hostname: "127.0.0.1",
    port,
    fetch(request, self) {
      const path = new URL(request.url).pathname;
      requests.push({ path, headers: Object.fromEntries(request.headers) });
      if (self.upgrade(request, { data: { path } })) return undefined;
      return path === "/health" ? Response.json(health(port)) : new Response("", { status: 404 });
    },
    websocket: {
      open,
      message(peer, frame) {
        frames.push({ path: peer.data.path, text: String(frame) });
        message(peer, String(frame));
      },
    },
  });
  return { frames, requests, leave: () => void server.stop(true) };
}

/** The port may be busy for a moment after its last holder was killed. */
export function openStranger(port: number, manner: Manner): Promise<Stranger> {
  return until(`port ${port}`, () => {
    try {
      return listen(
        port,
        (peer, text) => {
          if (manner === "mirror") peer.send(text);
          if (manner === "liar") peer.send(JSON.stringify(lies(peer.data.path)));
        },
        (peer) => {
          if (manner === "bossy") for (const order of ORDERS) peer.send(JSON.stringify(order));
        },
      );
    } catch {
      return undefined;
    }
  });
}

/** Turns every client away with 503, and is gone once it was asked how it is; then it says how long it has been host. */
export function openCloser(port: number, hostUptime: number): Stranger {
  const requests: Stranger["requests"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch(request) {
      const path = new URL(request.url).pathname;
      requests.push({ path, headers: Object.fromEntries(request.headers) });
      if (path !== "/health") return new Response("", { status: 503 });
      void server.stop(false);
      return Response.json({ ...health(port), hostUptime }, { headers: { connection: "close" } });
    },
  });
  return { frames: [], requests, leave: () => void server.stop(true) };
}

/** Knows the token, greets as a host does, and is gone when it is asked for its sessions. */
export async function openFaint(port: number, token: string): Promise<Stranger> {
  const proof = (nonce: string, own: string) =>
    createHmac("sha256", token).update(`host|${nonce}|${own}`).digest("hex");
  const faint = listen(
    port,
    (peer, text) => {
      const { type, nonce } = JSON.parse(text);
      const own = hex();
      const hello = { type: "host-hello", nonce: own, version: "0.1.0", protocolVersion: 2, pid: 1 };
      if (type === "client-challenge") peer.send(JSON.stringify({ ...hello, proof: proof(nonce, own) }));
      if (type === "list-sessions") faint.leave();
    },
    () => {},
  );
  return faint;
}
