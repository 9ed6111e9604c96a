// How does a program use the bridge, host or client without knowing which? This owns the link and what hangs on it.
import { createEmitter, type Emitter } from "../core/emitter.ts";
import { groupByInstance, resolve as resolveWanted, type Wanted } from "../core/resolve.ts";
import type { World } from "../platform/world.ts";
import type { ClientMessage, HostMessage, HostStatus, InstanceInfo, Result, SessionInfo } from "../protocol/client.ts";
import { ContextNotFoundError, Fault, SessionDisconnectedError, SessionNotFoundError } from "../protocol/fault.ts";
import { createPending } from "../rpc/pending.ts";
import type { HostLink } from "./join.ts";
import { type BridgeSession, createSession, type SessionHandle } from "./session.ts";

export type Role = "host" | "client";

export interface ConnectionEvents extends Record<string, unknown> {
  "session-connected": SessionInfo;
  "session-disconnected": SessionInfo;
  "session-changed": SessionInfo;
  "role-changed": { role: Role; previous: Role; tookMs: number };
  /** The host is gone; a new one is being sought. */
  "host-lost": { hung: boolean; hostPid: number };
  /** Connected again, as host or client. */
  "host-found": { role: Role; hostPid: number; tookMs: number };
  /** The search was given up. */
  ended: { error: Error | undefined };
  notice: { message: string };
}

/** How a connection gets a link, at first and after each loss. */
export interface Reacher {
  first(receive: (message: HostMessage) => void, lost: (why: { hung: boolean }) => void): Promise<HostLink>;
  /** Undefined: we are leaving. */
  again(why: { hung: boolean }): Promise<HostLink | undefined>;
  /** The link is in use. */
  settled(link: HostLink): void;
  transferNotice(): void;
  succession(rank: number): void;
  /** Gives back what the link alone does not hold: the host itself. */
  leave(): Promise<void>;
}

export interface BridgeConnection {
  readonly role: Role;
  readonly port: number;
  readonly hostPid: number;
  readonly isConnected: boolean;
  readonly on: Emitter<ConnectionEvents>["on"];
  listSessions(): SessionInfo[];
  listInstances(): InstanceInfo[];
  getSession(sessionId: string): BridgeSession | undefined;
  resolveSession(wanted?: Wanted, timeoutMs?: number): Promise<BridgeSession>;
  waitForSession(timeoutMs?: number): Promise<BridgeSession>;
  status(): Promise<HostStatus>;
  stopHost(): Promise<{ pid: number; standing: number }>;
  disconnect(): Promise<void>;
}

const LIST_MS = 30_000;
const WAIT_MS = 30_000;
/** The host keeps the time of an action; ours ends only what a hung host would keep open, after that was noticed. */
const HUNG_MARGIN_MS = 25_000;

type Response = Extract<HostMessage, { requestId: string }>;

export async function openConnection(
  world: Pick<World, "clock" | "newId" | "log">,
  reacher: Reacher,
): Promise<BridgeConnection> {
  const { clock, newId, log } = world;
  const emitter = createEmitter<ConnectionEvents>((thrown) =>
    log.warn("A listener threw", { why: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }),
  );
  const pending = createPending<Response>(clock);
  const sessions = new Map<string, SessionInfo>();
  const handles = new Map<string, SessionHandle>();
  let link: HostLink | undefined;
  let role: Role = "client";
  let over = false;

  const gone = (sessionId: string) => new SessionDisconnectedError(sessionId, "its host went away");

  const ask = (message: ClientMessage, timeoutMs: number, sessionId = ""): Promise<Response> => {
    if (!link) return Promise.reject(gone(sessionId));
    const answer = pending.ask(message.requestId, timeoutMs, () => gone(sessionId));
    link.send(message);
    return answer;
  };

  const add = (info: SessionInfo): void => {
    sessions.set(info.sessionId, info);
    emitter.emit("session-connected", info);
  };
  const drop = (sessionId: string, why: string): void => {
    const info = sessions.get(sessionId);
    sessions.delete(sessionId);
    handles.get(sessionId)?.disconnected(why);
    handles.delete(sessionId);
    if (info) emitter.emit("session-disconnected", info);
  };

  const receive = (message: HostMessage): void => {
    switch (message.type) {
      case "session-event": {
        const { event, session, sessionId } = message;
        if (event === "disconnected") drop(sessionId, "its plugin went away");
        else if (session && !sessions.has(sessionId)) add(session);
        else if (session) {
          sessions.set(sessionId, session);
          handles.get(sessionId)?.updated(session);
          emitter.emit("session-changed", session);
        }
        return;
      }
      case "plugin-push":
        return handles.get(message.sessionId)?.pushed(message.message);
      case "succession":
        return reacher.succession(message.rank);
      case "host-transfer":
        return reacher.transferNotice();
      case "host-ready":
        return;
      default:
        pending.answer(message.requestId, message);
    }
  };

  const list = async (): Promise<void> => {
    const response = await ask({ type: "list-sessions", requestId: newId() }, LIST_MS);
    if (response.type !== "list-sessions-response") return;
    for (const info of response.sessions) if (!sessions.has(info.sessionId)) add(info);
  };

  const adopt = async (next: HostLink): Promise<void> => {
    link = next;
    reacher.settled(next);
    await list();
  };

  const lost = (why: { hung: boolean }): void => {
    const hostPid = link?.hostPid ?? 0;
    link = undefined;
    // Before anything else: who waits for an answer must not wait for the takeover too.
    pending.rejectAll(gone);
    for (const sessionId of [...sessions.keys()]) drop(sessionId, "its host went away");
    if (over) return;
    emitter.emit("host-lost", { ...why, hostPid });
    void recover(why);
  };

  const recover = async (why: { hung: boolean }): Promise<void> => {
    const since = clock.elapsed();
    try {
      const next = await reacher.again(why);
      if (!next || over) return void next?.end();
      const previous = role;
      role = next.role;
      const tookMs = Math.round((clock.elapsed() - since) * 10) / 10;
      link = next;
      if (role !== previous) emitter.emit("role-changed", { role, previous, tookMs });
      await adopt(next);
      emitter.emit("host-found", { role, hostPid: next.hostPid, tookMs });
    } catch (thrown) {
      // Lost again while listing: the next recovery is under way already.
      if (thrown instanceof SessionDisconnectedError) return;
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      over = true;
      emitter.emit("ended", { error });
    }
  };

  const getSession = (sessionId: string): BridgeSession | undefined => {
    const info = sessions.get(sessionId);
    if (!info) return undefined;
    const handle =
      handles.get(sessionId) ??
      createSession(info, async (type, payload, timeoutMs): Promise<Result> => {
        const requestId = newId();
        const action = { type, sessionId, requestId, payload };
        const envelope = { type: "host-envelope" as const, requestId, targetSessionId: sessionId, action, timeoutMs };
        const response = await ask(envelope, timeoutMs + HUNG_MARGIN_MS, sessionId);
        if (response.type !== "host-response") throw new Error(`The host answered "${response.type}" to an action`);
        return response.result;
      });
    handles.set(sessionId, handle);
    return handle.session;
  };

  const resolveSession = async (wanted: Wanted = {}, timeoutMs = WAIT_MS): Promise<BridgeSession> => {
    const deadline = clock.elapsed() + timeoutMs;
    for (;;) {
      const found = resolveWanted([...sessions.values()], wanted);
      if (found.kind === "found") {
        const session = getSession(found.session.sessionId);
        if (session) return session;
      }
      if (found.kind === "several") {
        throw new Fault("SESSION_AMBIGUOUS", found.message, { sessions: found.sessions.map((s) => s.sessionId) });
      }
      const leftMs = deadline - clock.elapsed();
      if (leftMs <= 0 || over) {
        if (found.kind === "no-context") throw new ContextNotFoundError(found.message, { ...wanted });
        throw new SessionNotFoundError(found.kind === "none" ? found.message : "No session", { ...wanted });
      }
      await nextChange(leftMs);
    }
  };

  const nextChange = async (withinMs: number): Promise<void> => {
    const changed = new AbortController();
    const stops = [
      emitter.on("session-connected", () => changed.abort()),
      emitter.on("session-changed", () => changed.abort()),
      emitter.on("ended", () => changed.abort()),
    ];
    await clock.sleep(withinMs, changed.signal);
    for (const stop of stops) stop();
  };

  const first = await reacher.first(receive, lost);
  role = first.role;
  await adopt(first).catch((thrown) => {
    // Lost while listing: the search for the next host is under way already.
    if (!(thrown instanceof SessionDisconnectedError)) throw thrown;
  });

  let leaving: Promise<void> | undefined;
  const leave = async (): Promise<void> => {
    over = true;
    const last = link;
    link = undefined;
    pending.rejectAll(gone);
    for (const sessionId of [...sessions.keys()]) drop(sessionId, "this connection was closed");
    await reacher.leave();
    last?.end();
    emitter.emit("ended", { error: undefined });
  };

  return {
    get role() {
      return role;
    },
    get port() {
      return link?.port ?? first.port;
    },
    get hostPid() {
      return link?.hostPid ?? 0;
    },
    get isConnected() {
      return link !== undefined;
    },
    on: emitter.on,
    listSessions: () => [...sessions.values()],
    listInstances: () => groupByInstance([...sessions.values()]),
    getSession,
    resolveSession,
    waitForSession: (timeoutMs) => anySession(timeoutMs),
    async status() {
      const response = await ask({ type: "host-status", requestId: newId() }, LIST_MS);
      if (response.type !== "host-status-response") throw new Error("The host did not answer with its status");
      return response.status;
    },
    async stopHost() {
      const response = await ask({ type: "host-stop", requestId: newId() }, LIST_MS);
      if (response.type !== "host-stop-response") throw new Error("The host did not answer to stop");
      return { pid: response.pid, standing: response.standing };
    },
    disconnect() {
      leaving ??= leave();
      return leaving;
    },
  };

  async function anySession(timeoutMs = WAIT_MS): Promise<BridgeSession> {
    const deadline = clock.elapsed() + timeoutMs;
    for (;;) {
      const [info] = sessions.values();
      const session = info && getSession(info.sessionId);
      if (session) return session;
      const leftMs = deadline - clock.elapsed();
      if (leftMs <= 0 || over) throw new SessionNotFoundError(`No plugin connected within ${timeoutMs} ms`);
      await nextChange(leftMs);
    }
  }
}
