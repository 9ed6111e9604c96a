// How does a host go on where the last one was? Agents first, which fences that host; then sessions, then what was said
// since. One that does not answer makes nobody else wait, and a host that leaves ends it all at once.
import type { Keepers, LeftAgent } from "../platform/agent-world.ts";
import type { Clock, Log } from "../platform/world.ts";
import { hostLeaves, messageOf } from "../protocol/fault.ts";
import type { AgentManager } from "./agent-manager.ts";
import type { Started } from "./agent-slot.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { Launcher } from "./launcher.ts";
import type { Opener } from "./opener.ts";
import type { Registry } from "./registry.ts";
import type { AgentSession } from "./session.ts";
import { isAtRest } from "./session-needs.ts";

export interface AdoptionDeps {
  clock: Clock;
  log: Log;
  keepers?: Keepers;
  launcher: Launcher;
  manager: AgentManager;
  opener: Opener;
  registry: Registry;
  watch: IdleWatch;
}

export interface Adoption {
  /** Resolves when all that answers is taken over, and this session's agent too; a loss when this host leaves first. */
  ready(session?: string): Promise<void>;
  /** For a session that was not in use when this host began: its agent may be one that was adopted. */
  resume(session: AgentSession): void;
  /** Also those that answer late, or never. */
  readonly settled: Promise<void>;
  /** This host leaves: nothing is adopted any more when this is done. */
  end(): Promise<void>;
}

interface Adopted extends Started {
  left: LeftAgent;
  isGone: boolean;
}

/** An agent that has not answered yet, with the sessions that are open in it. */
interface Coming {
  sessions: AgentSession[];
  done: Promise<void>;
}

/** Whoever answers later is adopted later: a keeper that is stopped must not keep the others from working. */
const PATIENT_MS = 250;

/** Those who work go first; then so many of the others at a time, with room for work in between. */
const REST_AFTER_MS = 50;
const WAKE_AT_ONCE = 10;

async function wakeRest(clock: Clock, registry: Registry): Promise<void> {
  await clock.sleep(REST_AFTER_MS);
  while (registry.waiting.wake(WAKE_AT_ONCE)) await clock.sleep(1);
}

export function startAdoption(deps: AdoptionDeps): Adoption {
  const { clock, registry } = deps;
  const over = new AbortController();
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  const late = new Map<string, Promise<void>>();
  const byRun = new Map<string, Adopted>();
  const comingByRun = new Map<string, Coming>();
  const adopting = adopt(deps, over.signal, late, byRun, comingByRun).catch((thrown) =>
    deps.log.warn(`Not everything that an earlier host left could be taken over: ${messageOf(thrown)}`),
  );
  let isAdopted = false;
  void adopting.then(() => {
    isAdopted = true;
  });
  const rest = adopting.then(() => wakeRest(clock, registry));
  return {
    async ready(session) {
      // Only while there is something to wait for: each race with what never ends would be kept for ever.
      if (!isAdopted) await Promise.race([adopting, ended.promise]);
      const coming = session === undefined ? undefined : late.get(session);
      if (coming) await Promise.race([coming, ended.promise]);
      if (over.signal.aborted) throw hostLeaves();
      // Whoever asks for all sessions, or for one that rests, does not wait for its turn.
      if (session === undefined || registry.waiting.has(session)) registry.waiting.wake();
    },
    resume(session) {
      const { run = "" } = session.fold;
      const coming = comingByRun.get(run);
      if (coming) {
        session.isPostponed = true;
        coming.sessions.push(session);
        return void late.set(session.options.name, coming.done);
      }
      const adopted = byRun.get(run);
      if (adopted && !adopted.isGone) deps.opener.isOpen(adopted.client, session);
      session.resume(adopted?.client, adopted?.isGone ?? true);
    },
    settled: adopting.then(() => Promise.all([...late.values(), rest])).then(() => undefined),
    async end() {
      over.abort();
      registry.waiting.leave();
      ended.reject(hostLeaves());
      await adopting;
    },
  };
}

async function adopt(
  deps: AdoptionDeps,
  signal: AbortSignal,
  late: Map<string, Promise<void>>,
  byRun: Map<string, Adopted>,
  comingByRun: Map<string, Coming>,
): Promise<void> {
  const { clock, log, keepers, launcher, manager, opener, registry, watch } = deps;
  /** One bad thing costs only itself. */
  const isolated = <Result>(what: string, work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (thrown) {
      log.warn(`${what} cannot be taken over: ${messageOf(thrown)}`);
      return undefined;
    }
  };
  const begin = (left: LeftAgent): Adopted | undefined => {
    const isGone = left.isGone || left.isEnding;
    const started = isolated(`${left.agent} of an earlier host`, () => launcher.adopt(left));
    // Its turns are told as lost: then it must not work on.
    if (!started) void left.abandon();
    if (!started) return undefined;
    const adopted: Adopted = { left, isGone, ...started };
    byRun.set(left.run, adopted);
    void adopted.process.exited.then(() => {
      adopted.isGone = true;
    });
    return adopted;
  };
  const join = (adopted: Adopted, sessions: readonly AgentSession[]): void => {
    const { agent } = adopted.left;
    for (const session of sessions) opener.isOpen(adopted.client, session);
    isolated(`${agent} of an earlier host`, () =>
      adopted.isGone ? manager.bury(agent, adopted) : manager.adopt(agent, adopted),
    );
  };
  const resume = (session: AgentSession, adopted: Adopted | undefined): void => {
    if (isAtRest(session)) return;
    isolated(`Session ${session.options.name}`, () => session.resume(adopted?.client, adopted?.isGone ?? true));
  };

  const left = keepers?.left(signal) ?? [];
  const taken = new Set<LeftAgent>();
  const taking = left.map((each) =>
    each.taken.then(
      () => void taken.add(each),
      (thrown) => log.warn(`${each.agent} of an earlier host does not answer: ${messageOf(thrown)}`),
    ),
  );
  if (left.length > 0) await patiently(clock, signal, taking);
  if (signal.aborted) return;

  const adopted = [...taken].flatMap((each) => begin(each) ?? []);
  const agentOf = ({ fold }: AgentSession) => byRun.get(fold.run ?? "");
  const watched = (session: AgentSession): void =>
    isolated(`Session ${session.options.name}`, () => watch.restore(session));
  const takeLater = (session: AgentSession): void => {
    watched(session);
    const agent = agentOf(session);
    if (agent) opener.isOpen(agent.client, session);
    resume(session, agent);
  };
  const missing = left.filter((each) => !taken.has(each));
  const sessions = registry.restore(missing.length === 0 ? takeLater : undefined);
  const of = (run: string) => sessions.filter(({ fold }) => fold.run === run);
  for (const session of sessions) watched(session);
  for (const each of adopted) join(each, of(each.left.run));

  const runs = new Set(missing.map(({ run }) => run));
  for (const session of sessions) {
    const { run = "" } = session.fold;
    if (runs.has(run)) session.isPostponed = true;
    else resume(session, agentOf(session));
  }
  for (const each of missing) {
    const waiting = of(each.run);
    const adoptLate = async (): Promise<void> => {
      await taking[left.indexOf(each)];
      if (signal.aborted) return;
      const came = taken.has(each) ? begin(each) : void each.abandon();
      if (came) join(came, waiting);
      for (const session of waiting) resume(session, came);
    };
    const coming = adoptLate().catch((thrown) => log.warn(`${each.agent} cannot be taken over: ${messageOf(thrown)}`));
    manager.expect(each.agent, coming);
    comingByRun.set(each.run, { sessions: waiting, done: coming });
    for (const { options } of waiting) late.set(options.name, coming);
    void coming.then(() => {
      comingByRun.delete(each.run);
      for (const { options } of waiting) late.delete(options.name);
    });
  }
  // What was said meanwhile is read first: whoever asks now is told how things are, and not how they were.
  if (adopted.length > 0) await clock.sleep(0);
}

async function patiently(clock: Clock, signal: AbortSignal, work: readonly Promise<unknown>[]): Promise<void> {
  const enough = new AbortController();
  const leaves = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await Promise.race([Promise.all(work), clock.sleep(PATIENT_MS, enough.signal), leaves]);
  enough.abort();
}
