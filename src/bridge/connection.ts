// How does a program use the bridge, host or client without knowing which? This owns the link and what hangs on it.
import { createEmitter, type Emitter } from "../core/emitter.ts";
import { groupByInstance, type Wanted } from "../core/resolve.ts";
import type { World } from "../platform/world.ts";
import type { AgentRequest, SessionRecord } from "../protocol/agents.ts";
import type { ClientMessage } from "../protocol/client.ts";
import { Fault, isFaultCode, SessionDisconnectedError, stackOf } from "../protocol/fault.ts";
import type { HostMessage, HostStatus, InstanceInfo, Result, SessionInfo } from "../protocol/host-messages.ts";
import { createPending } from "../rpc/pending.ts";
import type { HostLink } from "./join.ts";
import { createKnownSessions } from "./known-sessions.ts";
import type { Reacher } from "./reacher.ts";
import type { Ask, BridgeSession } from "./session.ts";

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
  "agent-events": { session: string; events: SessionRecord[]; notice?: string | undefined };
}

export interface BridgeConnection {
  readonly role: Role;
  readonly port: number;
  readonly hostPid: number;
  readonly isConnected: boolean;
  /** The search for a host was given up, and why; or this end closed it. */
  readonly ended: ConnectionEvents["ended"] | undefined;
  readonly on: Emitter<ConnectionEvents>["on"];
  listSessions(): SessionInfo[];
  listInstances(): InstanceInfo[];
  getSession(sessionId: string): BridgeSession | undefined;
  resolveSession(wanted?: Wanted, timeoutMs?: number): Promise<BridgeSession>;
  waitForSession(timeoutMs?: number): Promise<BridgeSession>;
  status(): Promise<HostStatus>;
  /** With `agents` none of them is left to its keeper; `left`: what could not be ended, and why. */
  stopHost(how?: { agents: boolean }): Promise<{ pid: number; standing: number; left: string[] }>;
  /** Agents and their sessions; faults of the host are thrown as they were there. */
  askAgents(request: AgentRequest, timeoutMs?: number): Promise<unknown>;
  acknowledge(session: string, seq: number): void;
  disconnect(): Promise<void>;
}

const LIST_MS = 30_000;
/** Starting an agent takes its time. */
const AGENT_MS = 120_000;
const WAIT_MS = 30_000;
/** The host keeps the time of an action; ours ends only what a hung host would keep open, after that was noticed. */
const HUNG_MARGIN_MS = 25_000;

type Response = Extract<HostMessage, { requestId: string }>;

export async function openConnection(
  world: Pick<World, "clock" | "newId" | "log">,
  reacher: Reacher,
  listsSessions = true,
): Promise<BridgeConnection> {
  const { clock, newId, log } = world;
  const listenerThrew = (thrown: unknown): void => log.warn("A listener threw", { why: stackOf(thrown) });
  const emitter = createEmitter<ConnectionEvents>(listenerThrew);
  const pending = createPending<Response>(clock);
  let link: HostLink | undefined;
  let role: Role = "client";
  let over = false;
  let ended: ConnectionEvents["ended"] | undefined;

  const gone = (sessionId: string) => new SessionDisconnectedError(sessionId, "its host went away");

  const ask = (message: ClientMessage, timeoutMs: number, sessionId = ""): Promise<Response> => {
    if (!link) return Promise.reject(gone(sessionId));
    const answer = pending.ask(message.requestId, timeoutMs, () => gone(sessionId));
    const refused = link.send(message);
    if (refused) pending.reject(message.requestId, refused);
    return answer;
  };

  const askFor = async <Type extends Response["type"]>(message: ClientMessage, type: Type, timeoutMs = LIST_MS) => {
    const response = await ask(message, timeoutMs);
    if (response.type !== type) throw new Error(`The host answered "${response.type}" to "${message.type}"`);
    return response as Extract<Response, { type: Type }>;
  };

  const askSession =
    (sessionId: string): Ask =>
    async (type, payload, timeoutMs): Promise<Result> => {
      const requestId = newId();
      const action = { type, sessionId, requestId, payload };
      const envelope = { type: "host-envelope" as const, requestId, targetSessionId: sessionId, action, timeoutMs };
      const response = await ask(envelope, timeoutMs + HUNG_MARGIN_MS, sessionId);
      if (response.type !== "host-response") throw new Error(`The host answered "${response.type}" to an action`);
      return response.result;
    };
  const sessions = createKnownSessions({
    clock,
    emitter,
    create: ({ sessionId }) => askSession(sessionId),
    listenerThrew,
    isOver: () => over,
    endedBy: () => ended?.error,
  });

  const receive = (message: HostMessage): void => {
    switch (message.type) {
      case "session-event":
        return sessions.told(message);
      case "plugin-push":
        return sessions.handle(message.sessionId)?.pushed(message.message);
      case "succession":
        return reacher.succession(message.rank);
      case "agent-events":
        return emitter.emit("agent-events", message);
      case "in-line":
        return reacher.inLine(message.standing);
      case "host-transfer":
        return reacher.transferNotice();
      case "host-ready":
        return;
      default:
        pending.answer(message.requestId, message);
    }
  };

  const adopt = async (next: HostLink): Promise<void> => {
    link = next;
    reacher.settled(next);
    if (!listsSessions) return;
    sessions.listed((await askFor({ type: "list-sessions", requestId: newId() }, "list-sessions-response")).sessions);
  };

  const lost = (why: { hung: boolean }): void => {
    const hostPid = link?.hostPid ?? 0;
    link = undefined;
    // Before anything else: who waits for an answer must not wait for the takeover too.
    pending.rejectAll();
    sessions.dropAll("its host went away");
    if (over) return;
    emitter.emit("host-lost", { ...why, hostPid });
    void recover(why);
  };

  /** Once, however many reasons there are. */
  const tellEnded = (error: Error | undefined): void => {
    if (ended) return;
    ended = { error };
    emitter.emit("ended", ended);
  };

  const recover = async (why: { hung: boolean }): Promise<void> => {
    const since = clock.elapsed();
    try {
      // One turn of the loop: those who waited for an answer hear of the loss before the port is tried.
      await clock.sleep(0);
      if (over) return;
      const next = await reacher.again(why);
      if (!next || over) {
        next?.end();
        return tellEnded(undefined);
      }
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
      tellEnded(error);
    }
  };

  const first = await reacher.first(receive, lost);
  role = first.role;
  await adopt(first).catch(async (thrown) => {
    if (!(thrown instanceof SessionDisconnectedError)) throw thrown;
    // Lost while listing: the search for the next host is under way already, and before its list we know nothing.
    await new Promise<void>((resolve, reject) => {
      emitter.on("host-found", () => resolve());
      emitter.on("ended", ({ error }) => (error ? reject(error) : resolve()));
    });
  });

  let leaving: Promise<void> | undefined;
  const leave = async (): Promise<void> => {
    over = true;
    const last = link;
    link = undefined;
    pending.rejectAll();
    sessions.dropAll("this connection was closed");
    await reacher.leave();
    last?.end();
    tellEnded(undefined);
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
    get ended() {
      return over ? (ended ?? { error: undefined }) : undefined;
    },
    on: emitter.on,
    listSessions: sessions.infos,
    listInstances: () => groupByInstance(sessions.infos()),
    getSession: sessions.get,
    resolveSession: (wanted = {}, timeoutMs = WAIT_MS) => sessions.resolve(wanted, timeoutMs),
    waitForSession: (timeoutMs = WAIT_MS) => sessions.any(timeoutMs),
    async status() {
      return (await askFor({ type: "host-status", requestId: newId() }, "host-status-response")).status;
    },
    async stopHost({ agents } = { agents: false }) {
      const asked = { type: "host-stop", requestId: newId(), agents } as const;
      const { pid, standing, left = [] } = await askFor(asked, "host-stop-response");
      return { pid, standing, left };
    },
    async askAgents(request, timeoutMs = AGENT_MS) {
      const message = { type: "agent-request", requestId: newId(), request } as const;
      const { error, result } = await askFor(message, "agent-response", timeoutMs);
      if (!error) return result;
      throw new Fault(isFaultCode(error.code) ? error.code : "REFUSED", error.message, error.data);
    },
    acknowledge: (session, seq) => link?.send({ type: "agent-ack", requestId: newId(), session, seq }),
    disconnect() {
      leaving ??= leave();
      return leaving;
    },
  };
}
