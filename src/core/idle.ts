// May this be stopped now? The cap comes before the guards, and no guard passes it.
import type { IdleLimits } from "../protocol/settings.ts";

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

export const IDLE_RECHECK_MS = 30_000;

export function checkIdle<State>(
  idleStart: number,
  guardWasDeferred: boolean,
  guards: readonly IdleGuard<State>[],
  state: State,
  limits: IdleLimits,
  now: number,
): IdleAction {
  const idleMs = now - idleStart;
  const capped = limits.maxIdleMs > 0;
  if (capped && idleMs > limits.maxIdleMs)
    return { action: "kill", reason: `idle for more than ${limits.maxIdleMs} ms` };
  const clip = (ms: number): number => (capped ? Math.min(ms, limits.maxIdleMs - idleMs + 1) : ms);
  const verdicts = guards.map((guard) => guard.shouldKeepAlive(state, now));
  const keeping = verdicts.filter((verdict) => verdict.keep);
  const reason = (from: readonly Verdict[]): string => from.flatMap((verdict) => verdict.reason ?? []).join("; ");
  if (keeping.length > 0) {
    const delayMs = Math.min(...keeping.map((verdict) => verdict.recheckMs ?? IDLE_RECHECK_MS));
    return { action: "recheck", delayMs: clip(delayMs), guardDeferred: true, reason: reason(keeping) };
  }
  if (guardWasDeferred && !verdicts.some((verdict) => verdict.grace === false)) {
    return { action: "recheck", delayMs: clip(limits.idleTimeoutMs), guardDeferred: false, reason: "grace after work" };
  }
  return { action: "kill", reason: reason(verdicts) || "idle" };
}
