// Which sessions are there? Those in use, and those on the shelf, which come back when they are asked for.
import type { PruneLimits } from "../core/prune.ts";
import type { Clock, Files, Log } from "../platform/world.ts";
import type { ShelvedSession } from "../protocol/agents.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";
import type { Journal } from "./journal.ts";
import { AgentSession } from "./session.ts";
import { isDone, type SessionOptions } from "./session-needs.ts";
import { createShelf, type ForgetConversation } from "./shelf.ts";
import { createWaitingSessions, type WaitingSessions } from "./waiting-sessions.ts";

export interface RegistryDeps {
  clock: Clock;
  files: Files;
  log: Log;
  newId(): string;
  /** Waking milliseconds. */
  now(): number;
  since(at: string): number;
  directory: string;
  forget?: ForgetConversation;
  displayName(agent: string): string;
  ready(session: AgentSession): Promise<AcpClient>;
  forgotten(session: AgentSession, client: AcpClient): void;
  changed(session: AgentSession): void;
  /** Goes on with what an earlier host left open, in the agent that has it, if that is still there. */
  resume(session: AgentSession): void;
  /** A session came into use. */
  entered(session: AgentSession): void;
  /** Stopped for idleness: it only lies there. */
  isStopped(session: AgentSession): boolean;
  /** It is no more. */
  removed(session: AgentSession): void;
}

export interface Registry {
  /** Those that were in use when the last host ended; each is to be resumed. With `later` those that rest wait. */
  restore(later?: (session: AgentSession) => void): AgentSession[];
  readonly waiting: WaitingSessions;
  all(): AgentSession[];
  /** Those that are closed but still watched too. */
  held(): AgentSession[];
  of(agent: string): AgentSession[];
  /** Throws when there is none of this name. */
  named(name: string): AgentSession;
  /** To look at: one that is closed stays so. Throws when there is none. */
  viewed(name: string): AgentSession;
  /** A session for this agent and directory: the named one, or a new one whose name comes of its first prompt. */
  obtain(name: string | undefined, agent: string, cwd: string, promptId?: string): AgentSession;
  /** The one that was made for this prompt, closed or not. */
  askedBefore(agent: string, promptId: string): AgentSession | undefined;
  /** Only its name finds it again. */
  isShelved(name: string): boolean;
  live(name: string): AgentSession | undefined;
  /** Closed: out of use, and let go when nobody watches it any more. */
  drop(session: AgentSession): void;
  /** Its last client left: whether it was closed already. */
  letGo(session: AgentSession): boolean;
  prune(limits: PruneLimits): { removed: string[]; bytes: number };
  /** Those that only their name finds again, the newest first; so many at most. */
  shelved(limit?: number): ShelvedSession[];
  /** MCP servers that this session alone has. */
  servers(name: string): unknown[];
  keepServers(name: string, servers: readonly unknown[]): void;
  /** This host leaves. */
  end(): void;
}

const NAME_LETTERS = 8;

const CREATED_SEQ = 1;

export function createRegistry(deps: RegistryDeps): Registry {
  const { clock, files, log, newId, displayName } = deps;
  const shelf = createShelf(clock, files, `${deps.directory}/sessions`, deps.forget);
  const sessions = new Map<string, AgentSession>();
  const journals = new WeakMap<AgentSession, Journal>();
  const closed = new Set<AgentSession>();
  const waiting = createWaitingSessions((names) => restored(names));
  const all = () => [...sessions.values()].filter((session) => !closed.has(session));

  const enter = (options: SessionOptions, journal: Journal): AgentSession => {
    const { now, since, ready, forgotten, changed } = deps;
    const session = new AgentSession(options, { clock, now, since, journal, ready, forgotten, changed });
    sessions.set(options.name, session);
    journals.set(session, journal);
    return session;
  };

  const take = (name: string): AgentSession | undefined => {
    const journal = shelf.find(name);
    if (!journal) return undefined;
    const { agent, cwd } = journal.fold;
    return enter({ name, agent, displayName: displayName(agent), cwd }, journal);
  };

  const bring = (session: AgentSession): AgentSession => {
    shelf.inUse.came(session.options.name);
    deps.entered(session);
    deps.resume(session);
    return session;
  };

  const find = (name: string): AgentSession | undefined => {
    if (waiting.has(name)) waiting.wake();
    const here = sessions.get(name);
    // Never a second one on the same journal: who still watches it sees the next turn too.
    if (here && closed.delete(here)) {
      shelf.inUse.came(name);
      deps.entered(here);
    }
    if (here) return here;
    const session = take(name);
    return session && bring(session);
  };

  const orNone = (name: string, session: AgentSession | undefined): AgentSession => {
    if (session) return session;
    const message = `There is no agent session "${name}"; holdfast sessions --all lists them`;
    throw new Fault("SESSION_NOT_FOUND", message, { name });
  };

  const view = (name: string): AgentSession | undefined => {
    if (waiting.has(name)) waiting.wake();
    const here = sessions.get(name);
    if (here) return here;
    const session = take(name);
    // Its host died between the end of its only turn and the last record: brought back it would close at once.
    if (session && isDone(session)) session.record("session-closed", {});
    if (session?.fold.closed) closed.add(session);
    else if (session) bring(session);
    return session;
  };

  /** One journal that cannot be read costs that session only. */
  const isolated = <Result>(name: string, read: () => Result | undefined): Result[] => {
    try {
      return [read() ?? []].flat() as Result[];
    } catch (thrown) {
      log.warn(`Session "${name}" cannot be brought back: ${messageOf(thrown)}`);
      return [];
    }
  };

  /** Found again by the prompt that it was made for: asked for twice, it is one session. */
  const madeName = (agent: string, promptId: string): string =>
    `${agent}-${promptId.replace(/[^A-Za-z0-9-]/g, "").slice(0, NAME_LETTERS)}`;

  const letGo = (session: AgentSession): boolean => {
    if (!closed.has(session)) return false;
    if (session.viewers.size > 0 || session.isBehind) return true;
    sessions.delete(session.options.name);
    journals.get(session)?.close();
    shelf.inUse.went(session.options.name);
    return closed.delete(session);
  };

  const restored = (names: readonly string[]): AgentSession[] => {
    const found = names.flatMap((name) => (sessions.has(name) ? [] : isolated(name, () => take(name))));
    // Closed while somebody still watched it; or made for a prompt that never came: whoever asked asks again.
    const over = found.filter(({ fold, lastSeq }) => fold.closed || lastSeq <= CREATED_SEQ);
    for (const session of over) closed.add(session);
    for (const session of over) letGo(session);
    return found.filter((session) => !over.includes(session));
  };

  return {
    all,
    restore(later) {
      const resting = later ? shelf.resting() : new Set<string>();
      const names = shelf.inUse.names();
      if (later)
        waiting.add(
          names.filter((name) => resting.has(name)),
          later,
        );
      return restored(names.filter((name) => !resting.has(name)));
    },
    waiting,
    held: () => [...sessions.values()],
    of: (agent) => all().filter(({ options }) => options.agent === agent),
    isShelved(name) {
      const here = sessions.get(name);
      return here ? closed.has(here) : shelf.has(name);
    },
    live: (name) => sessions.get(name),
    letGo,
    drop(session) {
      closed.add(session);
      letGo(session);
    },
    shelved(limit = Number.POSITIVE_INFINITY) {
      waiting.wake();
      const here = new Set(all().map(({ options }) => options.name));
      const found: ShelvedSession[] = [];
      for (const name of shelf.newest()) {
        if (found.length >= limit) break;
        const [about] = here.has(name) ? [] : isolated(name, () => shelf.peek(name));
        if (about) found.push({ kind: "agent", name, ...about, closed: true });
      }
      return found;
    },
    end: shelf.end,
    servers: shelf.servers,
    keepServers: shelf.keepServers,
    prune(limits) {
      waiting.wake();
      const isNeeded = (session: AgentSession): boolean => session.viewers.size > 0 || !deps.isStopped(session);
      const needed = [...sessions.values()].filter(isNeeded).map(({ options }) => options.name);
      const pruned = shelf.prune(limits, new Set(needed));
      for (const session of pruned.removed.flatMap((name) => sessions.get(name) ?? [])) {
        closed.add(session);
        letGo(session);
        deps.removed(session);
      }
      return pruned;
    },
    named: (name) => orNone(name, find(name)),
    viewed: (name) => orNone(name, view(name)),
    askedBefore(agent, promptId) {
      const name = madeName(agent, promptId);
      const made = all().find((each) => each.knows(promptId)) ?? (shelf.has(name) ? view(name) : undefined);
      if (!made || made.knows(promptId)) return made;
      letGo(made);
      return undefined;
    },
    obtain(name, agent, cwd, promptId = newId()) {
      const existing = name === undefined ? undefined : find(name);
      if (!existing) {
        const own = madeName(agent, promptId);
        const begun = name === undefined ? sessions.get(own) : undefined;
        // Its host died before the prompt was on record.
        if (begun && begun.lastSeq <= CREATED_SEQ && begun.options.cwd === cwd) return begun;
        const made = name ?? (shelf.has(own) ? madeName(agent, newId()) : own);
        const journal = shelf.create(made, agent, cwd);
        const session = enter({ name: made, agent, displayName: displayName(agent), cwd }, journal);
        shelf.inUse.came(made);
        deps.entered(session);
        return session;
      }
      const { options } = existing;
      if (options.agent === agent && options.cwd === cwd) return existing;
      const message = `Session "${name}" belongs to ${options.agent} in "${options.cwd}"; choose another name with --session`;
      throw new Fault("USAGE", message, { name });
    },
  };
}
