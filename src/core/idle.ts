// May this be stopped now? The cap comes before the guards, and no guard passes it.
import type { IdleLimits } from "../protocol/settings.ts";
import { span } from "./span.ts";

export type IdleAction =
  | { action: "kill"; reason: string }
  | { action: "recheck"; delayMs: number; guardDeferred: boolean; reason: string };

export interface Verdict {
  keep: boolean;
  reason?: string;
  recheckMs?: number;
  /** False: this guard's end earns no grace. */
  grace?: boolean;
}

export interface IdleGuard<State> {
  name: string;
  shouldKeepAlive(state: State, now: number): Verdict;
}

/** What earlier checks left for this one. */
export interface IdleHistory {
  /** The guards that kept it last time, by name. */
  keptBy?: readonly string[];
  /** The guards that threw last time, and since when they do. */
  failingSince?: Readonly<Record<string, number>>;
}

/** What this check leaves for the next one. */
export interface IdleNotes {
  kept?(guard: string): void;
  failed?(guard: string, thrown: unknown): void;
}

export const IDLE_RECHECK_MS = 30_000;
/** A keeper without a host stays so long at most where nothing else limits it. */
export const NO_CAP_MS = 24 * 3_600_000;
/** So long a guard that throws counts as one that keeps. */
export const UNKNOWN_MS = 5 * 60_000;

/** To the cap and past it: at exactly the cap nothing is stopped. */
const pastCapMs = ({ maxIdleMs }: IdleLimits, idleMs: number): number =>
  maxIdleMs > 0 ? maxIdleMs - idleMs + 1 : Number.POSITIVE_INFINITY;

export const firstCheckMs = (limits: IdleLimits): number => Math.min(limits.idleTimeoutMs, pastCapMs(limits, 0));

export function checkIdle<State>(
  idleStart: number,
  guardWasDeferred: boolean,
  guards: readonly IdleGuard<State>[],
  state: State & IdleHistory,
  limits: IdleLimits,
  now: number,
  notes: IdleNotes = {},
): IdleAction {
  const idleMs = now - idleStart;
  const leftMs = pastCapMs(limits, idleMs);
  if (leftMs < 1)
    return { action: "kill", reason: `idle for more than ${span(limits.maxIdleMs)}, the longest allowed` };
  const ask = (guard: IdleGuard<State>): Verdict => {
    try {
      const verdict = guard.shouldKeepAlive(state, now);
      if (verdict.keep) notes.kept?.(guard.name);
      return verdict;
    } catch (thrown) {
      notes.failed?.(guard.name, thrown);
      const failingMs = now - (state.failingSince?.[guard.name] ?? now);
      const keep = failingMs <= UNKNOWN_MS;
      if (keep) notes.kept?.(guard.name);
      return { keep, reason: `unknown: the guard "${guard.name}" failed` };
    }
  };
  const verdicts = guards.map(ask);
  const keeping = verdicts.filter(({ keep }) => keep);
  const declining = verdicts.filter(({ keep }) => !keep);
  const tell = (...first: string[]): string =>
    [...first, ...[...keeping, ...declining].flatMap(({ reason }) => reason ?? [])].join("; ");
  if (keeping.length > 0) {
    const delayMs = Math.min(...keeping.map(({ recheckMs }) => recheckMs ?? IDLE_RECHECK_MS), leftMs);
    return { action: "recheck", delayMs, guardDeferred: true, reason: tell() };
  }
  if (guardWasDeferred && !declining.some(({ grace }) => grace === false)) {
    const delayMs = Math.min(limits.idleTimeoutMs, leftMs);
    return {
      action: "recheck",
      delayMs,
      guardDeferred: false,
      reason: tell(`grace after ${state.keptBy?.[0] ?? "work"}`),
    };
  }
  return { action: "kill", reason: tell() || `idle for ${span(idleMs)}` };
}
