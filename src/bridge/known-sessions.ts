// Which sessions does this process know of, and which of them does a caller mean?
import type { Emitter } from "../core/emitter.ts";
import { type Resolution, resolve, type Wanted } from "../core/resolve.ts";
import type { Clock } from "../platform/world.ts";
import { ContextNotFoundError, Fault, SessionNotFoundError } from "../protocol/fault.ts";
import type { SessionEvent, SessionInfo } from "../protocol/host-messages.ts";
import type { ConnectionEvents } from "./connection.ts";
import { type BridgeSession, createSession, type SessionHandle } from "./session.ts";

interface Deps {
  clock: Clock;
  emitter: Emitter<ConnectionEvents>;
  create: (info: SessionInfo) => Parameters<typeof createSession>[1];
  listenerThrew(thrown: unknown): void;
  /** No session will ever come again. */
  isOver(): boolean;
  /** Why not, if nobody asked for it. */
  endedBy(): Error | undefined;
}

export interface KnownSessions {
  infos(): SessionInfo[];
  get(sessionId: string): BridgeSession | undefined;
  handle(sessionId: string): SessionHandle | undefined;
  listed(infos: readonly SessionInfo[]): void;
  told(event: SessionEvent): void;
  dropAll(why: string): void;
  resolve(wanted: Wanted, timeoutMs: number): Promise<BridgeSession>;
  any(timeoutMs: number): Promise<BridgeSession>;
}

export function createKnownSessions({ clock, emitter, create, listenerThrew, isOver, endedBy }: Deps): KnownSessions {
  const known = new Map<string, SessionInfo>();
  const handles = new Map<string, SessionHandle>();

  const add = (info: SessionInfo): void => {
    known.set(info.sessionId, info);
    emitter.emit("session-connected", info);
  };
  const change = (info: SessionInfo): void => {
    known.set(info.sessionId, info);
    handles.get(info.sessionId)?.updated(info);
    emitter.emit("session-changed", info);
  };
  const drop = (sessionId: string, why: string): void => {
    const info = known.get(sessionId);
    known.delete(sessionId);
    handles.get(sessionId)?.disconnected(why);
    handles.delete(sessionId);
    if (info) emitter.emit("session-disconnected", info);
  };
  const get = (sessionId: string): BridgeSession | undefined => {
    const info = known.get(sessionId);
    if (!info) return undefined;
    const handle = handles.get(sessionId) ?? createSession(info, create(info), listenerThrew);
    handles.set(sessionId, handle);
    return handle.session;
  };

  const nextChange = async (withinMs: number): Promise<void> => {
    const changed = new AbortController();
    const stop = () => changed.abort();
    const stops = [
      emitter.on("session-connected", stop),
      emitter.on("session-changed", stop),
      emitter.on("ended", stop),
    ];
    await clock.sleep(withinMs, changed.signal);
    for (const off of stops) off();
  };

  /** Looks again at every change until there is one, or until no time is left. */
  const wait = async (look: () => Resolution, timeoutMs: number): Promise<BridgeSession> => {
    const deadline = clock.elapsed() + timeoutMs;
    for (;;) {
      const found = look();
      if (found.kind === "several") {
        throw new Fault("SESSION_AMBIGUOUS", found.message, { sessions: found.sessions.map((each) => each.sessionId) });
      }
      const session = found.kind === "found" ? get(found.session.sessionId) : undefined;
      if (session) return session;
      const leftMs = deadline - clock.elapsed();
      if (leftMs <= 0 || isOver()) {
        const why = endedBy();
        if (why) throw why;
        if (found.kind === "no-context") throw new ContextNotFoundError(found.message);
        throw new SessionNotFoundError(found.kind === "none" ? found.message : "No session is connected");
      }
      await nextChange(leftMs);
    }
  };

  const first = (): Resolution => {
    const [session] = known.values();
    return session ? { kind: "found", session } : resolve([], {});
  };

  return {
    infos: () => [...known.values()],
    get,
    handle: (sessionId) => handles.get(sessionId),
    listed(infos) {
      for (const info of infos) if (!known.has(info.sessionId)) add(info);
    },
    told({ event, session, sessionId }) {
      if (event === "disconnected") drop(sessionId, "its plugin went away");
      else if (session && known.has(sessionId)) change(session);
      else if (session) add(session);
    },
    dropAll(why) {
      for (const sessionId of [...known.keys()]) drop(sessionId, why);
    },
    resolve: (wanted, timeoutMs) => wait(() => resolve([...known.values()], wanted), timeoutMs),
    any: (timeoutMs) => wait(first, timeoutMs),
  };
}
