// Which plugin sessions are there now? Starts empty on every host: sessions come only by `register`.
import type { SessionEvent, SessionInfo } from "../protocol/host-messages.ts";
import type { PluginSession } from "./plugin-session.ts";

export interface SessionTable {
  readonly size: number;
  get(sessionId: string): PluginSession | undefined;
  infos(): SessionInfo[];
  all(): PluginSession[];
  add(session: PluginSession): void;
  update(session: PluginSession, info: SessionInfo): void;
  remove(session: PluginSession, why: string): void;
}

export interface TableEvents {
  told(event: SessionEvent): void;
  removed(session: PluginSession, why: string): void;
}

export function createSessionTable(events: TableEvents): SessionTable {
  const sessions = new Map<string, PluginSession>();
  const tell = (event: SessionEvent["event"], { info }: PluginSession): void => {
    const { sessionId, context, instanceId } = info;
    const session = event === "disconnected" ? {} : { session: info };
    events.told({ type: "session-event", event, sessionId, context, instanceId, ...session });
  };
  return {
    get size() {
      return sessions.size;
    },
    get: (sessionId) => sessions.get(sessionId),
    infos: () => [...sessions.values()].map(({ info }) => info),
    all: () => [...sessions.values()],
    add(session) {
      sessions.set(session.info.sessionId, session);
      tell("connected", session);
    },
    update(session, info) {
      session.info = info;
      if (sessions.get(info.sessionId) === session) tell("state-changed", session);
    },
    remove(session, why) {
      if (sessions.get(session.info.sessionId) !== session) return;
      sessions.delete(session.info.sessionId);
      events.removed(session, why);
      tell("disconnected", session);
    },
  };
}
