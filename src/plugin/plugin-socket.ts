// What becomes of one connection of a plugin, from the challenge to its loss?
import type { Cancel, Socket, SocketEvents } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import { isPluginFrame } from "../protocol/plugin-frames.ts";
import { PROTOCOL_VERSION } from "../protocol/version.ts";
import { parseFrame } from "../rpc/frame.ts";
import { createClientProver } from "../rpc/prover.ts";
import { type PeerWatch, watchPeer } from "../rpc/watch.ts";
import type { PluginClientOptions, PluginMessage, PluginWorld } from "./plugin-client.ts";

export interface PluginLink {
  readonly sessionId: string;
  readonly lost: Promise<{ graceful: boolean }>;
  push(message: PluginMessage): void;
  end(): void;
}

export type TurnedAway = { kind: "unproven" } | { kind: "refused"; why: string };
export type PluginConnected = { kind: "welcomed"; link: PluginLink } | { kind: "lost" } | TurnedAway;

const CONNECT_MS = 5_000;
const CLOSE_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const NOT_ACTIONS = new Set(["welcome", "error", "challengeResult"]);

export async function connectPlugin(world: PluginWorld, options: PluginClientOptions): Promise<PluginConnected> {
  const { promise, resolve } = Promise.withResolvers<PluginConnected>();
  const { port } = options;
  const connected = await world.net.connect({ port, path: "/plugin", timeoutMs: CONNECT_MS }, (socket) =>
    attach(world, options, socket, resolve),
  );
  if (connected.kind === "denied" && connected.status !== 503) {
    return { kind: "refused", why: `it answers ${connected.status}` };
  }
  if (connected.kind !== "open") return { kind: "lost" };
  const cancel = world.clock.after(CONNECT_MS, () => {
    resolve({ kind: "refused", why: "it does not answer" });
    connected.socket.cut();
  });
  const outcome = await promise;
  cancel();
  return outcome;
}

function attach(
  world: PluginWorld,
  { token, identity, actions }: PluginClientOptions,
  socket: Socket,
  resolve: (outcome: PluginConnected) => void,
): SocketEvents {
  const { clock } = world;
  const prover = token === undefined ? undefined : createClientProver(world, token);
  const lost = Promise.withResolvers<{ graceful: boolean }>();
  // Fresh for every connection; what lasts is (instanceId, context).
  let sessionId = world.newId();
  let proven = prover === undefined;
  let welcomed = false;
  let graceful = false;
  let watch: PeerWatch | undefined;
  let cancelBeat: Cancel = () => {};

  const send = (message: PluginMessage & { requestId?: string; protocolVersion?: number }): void =>
    socket.send(JSON.stringify({ ...message, sessionId }));

  const register = (proof?: string): void => {
    const { capabilities } = actions;
    const payload = { ...identity, capabilities, state: actions.state(), pid: world.pid, ...(proof ? { proof } : {}) };
    send({ type: "register", protocolVersion: PROTOCOL_VERSION, payload });
  };

  const beat = (): void => {
    const payload = { uptimeMs: Math.round(clock.elapsed()), state: actions.state(), pendingRequests: 0 };
    send({ type: "heartbeat", payload });
    cancelBeat = clock.after(HEARTBEAT_MS, beat);
  };

  const welcome = (payload: Record<string, unknown>): void => {
    if (typeof payload["sessionId"] === "string") sessionId = payload["sessionId"];
    if (welcomed) return;
    welcomed = true;
    watch = watchPeer(clock, socket, () => socket.cut());
    if (actions.capabilities.includes("heartbeat")) beat();
    const link: PluginLink = {
      get sessionId() {
        return sessionId;
      },
      lost: lost.promise,
      push: send,
      end() {
        socket.close(1000, "plugin leaves");
        // A host that hangs never answers the close.
        cancelBeat();
        cancelBeat = clock.after(CLOSE_MS, () => socket.cut());
      },
    };
    resolve({ kind: "welcomed", link });
  };

  const act = async (type: string, payload: Record<string, unknown>, requestId: string | undefined): Promise<void> => {
    const failed = (thrown: unknown): PluginMessage => ({
      type: "error",
      payload: { code: "INTERNAL_ERROR", message: `Handler error: ${messageOf(thrown)}` },
    });
    const answer = await actions.handle(type, payload).catch(failed);
    if (requestId !== undefined) send({ ...answer, requestId });
  };

  /** Nobody who has not proven itself is told or obeyed. */
  const checkHost = (type: string, payload: Record<string, unknown>): void => {
    const answer = { nonce: String(payload["nonce"]), proof: String(payload["proof"]) };
    const proof = type === "challengeResult" ? prover?.check(answer) : undefined;
    proven = proof !== undefined;
    if (proven) return register(proof);
    resolve({ kind: "unproven" });
    socket.close(1000, "");
  };

  if (prover) socket.send(JSON.stringify({ type: "challenge", sessionId: "", payload: { nonce: prover.nonce } }));
  else register();

  return {
    message(text) {
      watch?.heard();
      const frame: unknown = parseFrame(text);
      if (!isPluginFrame(frame)) return;
      const { type, payload, requestId } = frame;
      if (!proven) return checkHost(type, payload);
      if (type === "welcome") return welcome(payload);
      if (!welcomed || NOT_ACTIONS.has(type)) return;
      if (type === "shutdown") {
        graceful = true;
        return socket.close(1000, "");
      }
      void act(type, payload, requestId);
    },
    pong: () => watch?.heard(),
    closed(code, reason) {
      watch?.stop();
      cancelBeat();
      resolve(code === 1008 ? { kind: "refused", why: reason } : { kind: "lost" });
      lost.resolve({ graceful: graceful || code === 1001 });
    },
  };
}
