// Who stops what nobody watches? Checks at planned times, in waking hours; what was found stands in the journal.
import { type IdleAction, NO_CAP_MS } from "../core/idle.ts";
import { forecast } from "../core/idle-forecast.ts";
import type { Clock } from "../platform/world.ts";
import type { AgentSessionInfo } from "../protocol/agents.ts";
import { messageOf } from "../protocol/fault.ts";
import { type AwakeFile, createAwakeTime } from "./awake-time.ts";
import { freshIdle, type Idle, restoredIdle } from "./idle-entry.ts";
import { createIdleJudge, type IdleJudgeDeps } from "./idle-judge.ts";
import { createPins, DETACHED_MS } from "./pins.ts";
import type { AgentSession } from "./session.ts";
import { hasNothingToDo } from "./session-needs.ts";
import { createSpareAgents, type SpareAgentsDeps } from "./spare-agents.ts";

export interface IdleWatchDeps extends Omit<SpareAgentsDeps, "isKept">, IdleJudgeDeps {
  clock: Clock;
  /** Whether an agent process has this session open. */
  isOpen(session: AgentSession): boolean;
  /** Cancel, then `session/close`. */
  leaveAgent(session: AgentSession): Promise<void>;
  /** An agent may have come to be needed, or not to be. */
  changed(): void;
  /** Where waking time is counted on from host to host. */
  awakeFile?: AwakeFile;
}

export interface IdleWatch {
  /** Waking milliseconds. */
  now(): number;
  /** How long ago that was, in waking milliseconds. */
  since(at: string): number;
  /** An earlier host had it: the verdict is the one that host would have reached. */
  restore(session: AgentSession): void;
  /** So long an agent may stay without a host. */
  lingerMs(agent: string): number;
  /** Whether nothing keeps any session of this agent. */
  isIdle(agent: string): boolean;
  /** A session came into use, or its last client left. Idempotent, as `attached` is. */
  unwatched(session: AgentSession): void;
  attached(session: AgentSession): void;
  prompted(session: AgentSession, promptId: string, detach: boolean): void;
  /** Its turn, its questions or its pins changed. */
  changed(session: AgentSession): void;
  keep(session: AgentSession, forMs: number | null): void;
  closed(session: AgentSession): void;
  agentStarted(agent: string): void;
  isStopped(session: AgentSession): boolean;
  info(session: AgentSession): AgentSessionInfo["idle"];
  /** How many agents are attached to, working or kept. */
  company(): number;
  end(): void;
}

type Watched = Idle | { state: "stopping" | "stopped"; reason: string; at: string };

export function createIdleWatch(deps: IdleWatchDeps): IdleWatch {
  const { clock, log } = deps;
  /** Sessions that are not here have clients. */
  const watched = new Map<AgentSession, Watched>();
  const pins = createPins();
  const { circumstances, judge, firstDue } = createIdleJudge(deps, pins.of);
  const isKept = (session: AgentSession): boolean => watched.get(session)?.state !== "stopped";
  const spare = createSpareAgents({ ...deps, isKept });
  const dueOf = (each: Watched): number => {
    if (each.state !== "idle") return Number.POSITIVE_INFINITY;
    return each.awaited ? each.notBefore : each.dueAt;
  };
  const nextDue = (): number => Math.min(spare.nextDue, ...[...watched.values()].map(dueOf));
  const awake = createAwakeTime({
    clock,
    ...(deps.awakeFile ? { file: deps.awakeFile } : {}),
    nextDue,
    tick: (now) => tick(now),
    isCounting: () => deps.sessions().some(isKept),
  });

  const isAlive = (session: AgentSession): boolean => deps.isOpen(session) || session.work.turn !== "idle";
  const journal = (session: AgentSession, entry: Idle, type: string, data: Record<string, unknown>): void => {
    // A session that only lies there has its last record's time, and needs no more of them.
    if (!isAlive(session)) return;
    entry.journaled = true;
    session.record(type, { idleMs: Math.round(awake.now() - entry.idleStart), ...data });
  };

  const begin = (session: AgentSession): Idle => {
    const now = awake.now();
    const entry = freshIdle(now);
    entry.dueAt = firstDue(session, entry, now);
    watched.set(session, entry);
    notice(session, entry, now);
    awake.plan();
    deps.changed();
    return entry;
  };

  /** Between checks: what keeps it now earns a grace when it ends, and the grace begins at that end. */
  const notice = (session: AgentSession, entry: Idle, now: number): void => {
    const action = judge(session, entry, now);
    if (action.action === "recheck" && action.guardDeferred) {
      entry.guardDeferred = true;
      entry.grace = undefined;
    } else if (entry.guardDeferred && action.action === "recheck") apply(session, entry, action, now, entry.journaled);
    // Not here: whoever told us of the change is in the middle of it.
    else if (entry.guardDeferred) entry.dueAt = Math.max(now, entry.notBefore);
  };

  const apply = (session: AgentSession, entry: Idle, action: IdleAction, now: number, told = true): void => {
    if (action.action === "kill") return void stop(session, entry, action.reason);
    const { delayMs, guardDeferred, reason } = action;
    entry.dueAt = Math.max(now + delayMs, entry.notBefore);
    entry.awaited = false;
    entry.guardDeferred = guardDeferred;
    entry.grace = guardDeferred ? undefined : reason;
    if (told) journal(session, entry, "idle-checked", { delayMs, guardDeferred, reason });
  };

  const stop = async (session: AgentSession, entry: Idle, reason: string): Promise<void> => {
    const { name, agent } = session.options;
    const at = clock.iso();
    const stopping = { state: "stopping", reason, at } as const;
    watched.set(session, stopping);
    if (isAlive(session)) log.info("Stopped a session that nobody watches", { session: name, reason });
    journal(session, entry, "idle-stopped", { reason, at });
    await deps.leaveAgent(session).catch((thrown) => log.warn(`Not closed: ${messageOf(thrown)}`, { session: name }));
    // Somebody may have come meanwhile.
    if (watched.get(session) === stopping) watched.set(session, { ...stopping, state: "stopped" });
    checkAgent(agent, 0);
  };

  const checkAgent = (agent: string, inMs: number): void => {
    spare.checkAt(agent, awake.now() + inMs);
    awake.plan();
    deps.changed();
  };

  /** Its clients did not come back. */
  const missed = (session: AgentSession, entry: Idle): void => {
    entry.awaited = false;
    journal(session, entry, "idle-started", { guardDeferred: entry.guardDeferred });
  };

  const tick = (now: number): void => {
    for (const [session, entry] of watched) {
      if (entry.state !== "idle" || dueOf(entry) > now) continue;
      if (entry.awaited) missed(session, entry);
      if (entry.dueAt <= now) apply(session, entry, judge(session, entry, now), now);
    }
    spare.tick(now);
  };

  let soon: { company: boolean } | undefined;
  /** Once for all that changes together: a host that takes over many looks at each of them. */
  const planSoon = (company = false): void => {
    if (soon) soon.company ||= company;
    else {
      soon = { company };
      queueMicrotask(() => {
        if (soon?.company) deps.changed();
        soon = undefined;
        awake.plan();
      });
    }
  };

  const changed = (session: AgentSession): void => {
    const entry = watched.get(session);
    if (entry?.state !== "idle") return;
    notice(session, entry, awake.now());
    planSoon();
  };

  const of = (agent: string) => deps.sessions().filter(({ options }) => options.agent === agent);
  const pinnedMs = (session: AgentSession): number => (pins.of(session)?.until ?? 0) - awake.now();

  return {
    now: awake.now,
    since: awake.since,
    changed,
    restore(session) {
      const now = awake.now();
      const { idle } = session.fold;
      pins.restore(session, idle.pins, now, awake.since);
      if (idle.stopped) return void watched.set(session, { state: "stopped", ...idle.stopped });
      const { first, ...entry } = restoredIdle(idle, now, awake.since);
      if (first) entry.dueAt = Math.max(firstDue(session, entry, now), entry.notBefore);
      watched.set(session, entry);
      planSoon(true);
    },
    lingerMs(agent) {
      const { maxIdleMs } = deps.limits();
      if (maxIdleMs === 0) return NO_CAP_MS;
      return Math.max(maxIdleMs, ...of(agent).map((session) => Math.min(pinnedMs(session), NO_CAP_MS)));
    },
    isIdle: (agent) => of(agent).every((session) => hasNothingToDo(session) && pinnedMs(session) <= 0),
    unwatched(session) {
      if (session.viewers.size > 0 || watched.has(session)) return;
      const entry = begin(session);
      journal(session, entry, "idle-started", { idleMs: 0, guardDeferred: entry.guardDeferred });
    },
    attached(session) {
      const entry = watched.get(session);
      watched.delete(session);
      if (entry?.state === "idle" && entry.journaled) journal(session, entry, "idle-ended", {});
      if (entry) deps.changed();
    },
    prompted(session, promptId, detach) {
      if (detach && session.isOpen(promptId)) {
        pins.detach(session, promptId, awake.now());
        session.record("pinned", { forMs: DETACHED_MS, promptId });
      }
      // Whoever asks is with the session at that moment. Most attach at once: only the others leave a record.
      if (session.viewers.size > 0) return;
      const entry = begin(session);
      if (detach) journal(session, entry, "idle-started", { idleMs: 0, guardDeferred: entry.guardDeferred });
    },
    keep(session, forMs) {
      pins.keep(session, forMs, awake.now());
      session.record(forMs === 0 ? "unpinned" : "pinned", { forMs });
      changed(session);
    },
    closed(session) {
      watched.delete(session);
      pins.drop(session);
      checkAgent(session.options.agent, deps.limits().idleTimeoutMs);
    },
    agentStarted: (agent) => checkAgent(agent, deps.limits().idleTimeoutMs),
    isStopped: (session) => (watched.get(session)?.state ?? "idle") !== "idle",
    info(session) {
      const entry = watched.get(session);
      if (!entry) {
        const { size } = session.viewers;
        return { verdict: "kept", reason: `kept: ${size} client${size === 1 ? "" : "s"} attached`, dueInMs: null };
      }
      if (entry.state !== "idle") {
        return { verdict: "stopped", reason: `stopped at ${entry.at}: ${entry.reason}`, dueInMs: null, at: entry.at };
      }
      const now = awake.now();
      const { guards, state, limits } = circumstances(session, entry, now);
      return { ...forecast(entry, guards, state, limits, now) };
    },
    company() {
      const kept = deps.sessions().filter(isKept);
      return new Set(kept.map(({ options }) => options.agent)).size;
    },
    end: awake.end,
  };
}
