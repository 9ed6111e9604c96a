// What becomes of one socket on `/plugin`, from its first frame to its last?

import type { Cancel, Socket, SocketEvents, World } from "../platform/world.ts";
import {
  CAPABILITIES,
  Challenge,
  Hello,
  isResult,
  PluginFrame,
  PUSHES,
  Register,
  StateChange,
} from "../protocol/plugin.ts";
import { PROTOCOL_VERSION, VERSION } from "../protocol/version.ts";
import type { Frame } from "../rpc/frame.ts";
import { parseFrame } from "../rpc/frame.ts";
import { createHostProver } from "../rpc/prover.ts";
import { type PluginSession, registerOfHello, sameIdentity, toInfo } from "./plugin-session.ts";
import { isRelayId, type Relay } from "./relay.ts";
import type { SessionTable } from "./session-table.ts";

export interface PluginLinkDeps {
  world: Pick<World, "clock" | "newId" | "secrets">;
  token: string;
  /** Closed by --plugin-token, and none was shown at the upgrade. */
  mustProve: boolean;
  table: SessionTable;
  relay: Relay;
  push(session: PluginSession, frame: Frame): void;
  malformed(): void;
  heard(): void;
  gone(link: PluginLink): void;
}

export interface PluginLink extends SocketEvents {
  socket: Socket;
  session: PluginSession | undefined;
}

const REGISTER_MS = 10_000;
const REPLACE_PING_MS = 2_000;
const FRAMES_WHILE_DECIDING = 64;
const BYTES_WHILE_DECIDING = 16 * 1024 * 1024;

export function createPluginLink(socket: Socket, deps: PluginLinkDeps): PluginLink {
  const { clock, newId } = deps.world;
  const prover = createHostProver(deps.world, deps.token);
  const pongs: (() => void)[] = [];
  let deciding: string[] | undefined;
  let decidingBytes = 0;
  let ended = false;

  const cancelRegister: Cancel = clock.after(REGISTER_MS, () => {
    if (!link.session && !deciding) socket.close(1008, "No register within 10 s");
  });

  const send = (message: Record<string, unknown>): void => socket.send(JSON.stringify(message));

  const welcome = (session: PluginSession): void => {
    session.wireId = session.info.sessionId;
    const capabilities = session.info.capabilities.filter((name) => CAPABILITIES.has(name));
    const { sessionId } = session.info;
    const payload = { sessionId, capabilities, serverVersion: VERSION };
    send({ type: "welcome", sessionId, protocolVersion: PROTOCOL_VERSION, payload });
  };

  const enter = (register: Register, wireId: string, sessionId: string, welcomed: boolean): void => {
    const session: PluginSession = {
      info: toInfo(register, sessionId, clock.iso()),
      wireId,
      pending: 0,
      send,
      socket,
      answers: (withinMs) =>
        new Promise((resolve) => {
          const cancel = clock.after(withinMs, () => resolve(false));
          pongs.push(() => {
            cancel();
            resolve(true);
          });
          socket.ping();
        }),
    };
    link.session = session;
    cancelRegister();
    // The answer first: a client that hears of the session may use it at once.
    if (welcomed) welcome(session);
    deps.table.add(session);
  };

  const decide = async (register: Register, proposed: string, welcomed: boolean): Promise<void> => {
    const holder = deps.table.get(proposed);
    const candidate = toInfo(register, proposed, clock.iso());
    if (holder && sameIdentity(holder.info, candidate)) {
      deciding = [];
      const alive = await holder.answers(REPLACE_PING_MS);
      const waiting = deciding;
      deciding = undefined;
      if (ended) return;
      if (!alive) {
        holder.socket.cut();
        deps.table.remove(holder, "Replaced by a new connection of the same plugin");
      }
      // Taken still, by the holder or by another newcomer that waited too.
      enter(register, proposed, deps.table.get(proposed) ? newId() : proposed, welcomed);
      for (const text of waiting) link.message(text);
      return;
    }
    enter(register, proposed, holder ? newId() : proposed, welcomed);
  };

  const registered = (register: Register, frame: PluginFrame, welcomed: boolean): void => {
    const { session } = link;
    if (!session) return void decide(register, frame.sessionId || newId(), welcomed);
    const info = toInfo(register, session.info.sessionId, session.info.connectedAt);
    deps.table.update(session, info);
    if (welcomed) welcome(session);
  };

  const answerError = (frame: Frame, code: string, message: string): void => {
    deps.malformed();
    // Never an answer to an error or to a late result, or two sides could go on for ever.
    const { requestId } = frame;
    if (typeof requestId !== "string" || requestId === "" || isResult(frame.type) || isRelayId(requestId)) return;
    const sessionId = typeof frame["sessionId"] === "string" ? frame["sessionId"] : "";
    send({ type: "error", sessionId, requestId, payload: { code, message } });
  };

  const prove = (frame: Frame): void => {
    const challenge = Challenge.safeParse(frame["payload"]);
    if (!challenge.success) return answerError(frame, "INVALID_PAYLOAD", "A challenge needs a nonce");
    send({ type: "challengeResult", sessionId: "", payload: prover.answer(challenge.data.nonce) });
  };

  const greet = (frame: Frame): void => {
    const envelope = PluginFrame.safeParse(frame);
    const payload =
      frame.type === "register" ? Register.safeParse(frame["payload"]) : Hello.safeParse(frame["payload"]);
    if (!envelope.success || !payload.success) {
      const issue = (envelope.error ?? payload.error)?.issues[0];
      return answerError(frame, "INVALID_PAYLOAD", `Bad "${issue?.path.join(".")}": ${issue?.message}`);
    }
    if (deps.mustProve && !link.session && !prover.accepts(payload.data["proof"])) {
      return socket.close(1008, "This host wants a plugin token: connect to /plugin?token=…");
    }
    if (frame.type === "register") {
      return registered(payload.data as Register, envelope.data, envelope.data.protocolVersion !== undefined);
    }
    registered(registerOfHello(envelope.data.sessionId || newId(), payload.data), envelope.data, true);
  };

  const handle = (frame: Frame): void => {
    if (frame.type === "register" || frame.type === "hello") return greet(frame);
    if (frame.type === "challenge") return prove(frame);
    const { session } = link;
    if (!session) return answerError(frame, "NOT_REGISTERED", "Send register first");
    const { requestId } = frame;
    if (typeof requestId === "string" && requestId !== "" && deps.relay.settle(session, requestId, frame)) return;
    if (frame.type === "heartbeat") return;
    if (frame.type === "stateChange") {
      const change = StateChange.safeParse(frame["payload"]);
      if (!change.success) return answerError(frame, "INVALID_PAYLOAD", "A stateChange needs newState");
      deps.table.update(session, { ...session.info, state: change.data.newState });
    }
    if (PUSHES.has(frame.type)) return deps.push(session, frame);
    answerError(frame, "UNKNOWN_REQUEST", `The host knows no "${frame.type}"`);
  };

  const link: PluginLink = {
    socket,
    session: undefined,
    message(text) {
      deps.heard();
      if (link.session?.info.stale) deps.table.update(link.session, { ...link.session.info, stale: false });
      if (deciding) {
        decidingBytes += text.length;
        if (deciding.length < FRAMES_WHILE_DECIDING && decidingBytes <= BYTES_WHILE_DECIDING) deciding.push(text);
        else deps.malformed();
        return;
      }
      const frame = parseFrame(text);
      if (frame) handle(frame);
      else deps.malformed();
    },
    pong() {
      // Who promised heartbeats is judged by them: a frozen program may still answer pings.
      if (!link.session?.info.capabilities.includes("heartbeat")) deps.heard();
      for (const answered of pongs.splice(0)) answered();
    },
    closed() {
      ended = true;
      cancelRegister();
      if (link.session) deps.table.remove(link.session, "The plugin went away");
      deps.gone(link);
    },
  };
  return link;
}
