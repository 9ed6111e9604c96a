// What will become of a session that nobody watches? Kept, with the reason, or stopped at a known time.

import type { IdleLimits } from "../protocol/settings.ts";
import { checkIdle, type IdleGuard, type IdleHistory } from "./idle.ts";
import { spanAhead } from "./span.ts";

export interface Countdown {
  idleStart: number;
  guardDeferred: boolean;
  /** The next check. */
  dueAt: number;
  /** The reason of the check that gave a grace, while that lasts. */
  grace: string | undefined;
}

export interface Forecast {
  verdict: "kept" | "stops";
  reason: string;
  /** Null while it is kept. */
  dueInMs: number | null;
  /** To the cap; null where there is none. */
  capInMs: number | null;
}

export function forecast<State>(
  { idleStart, guardDeferred, dueAt, grace }: Countdown,
  guards: readonly IdleGuard<State>[],
  state: State & IdleHistory,
  limits: IdleLimits,
  now: number,
): Forecast {
  const capAt = limits.maxIdleMs > 0 ? idleStart + limits.maxIdleMs + 1 : undefined;
  const capInMs = capAt === undefined ? null : Math.ceil(Math.max(0, capAt - now));
  const found = checkIdle(idleStart, guardDeferred, guards, state, limits, now);
  if (found.action === "recheck" && found.guardDeferred) {
    return { verdict: "kept", reason: `kept: ${found.reason}`, dueInMs: null, capInMs };
  }
  const stopsAt =
    found.action === "kill" ? dueAt : Math.min(dueAt + limits.idleTimeoutMs, capAt ?? Number.POSITIVE_INFINITY);
  const dueInMs = Math.ceil(Math.max(0, stopsAt - now));
  const why = found.action === "kill" ? (grace ?? found.reason) : found.reason;
  return { verdict: "stops", reason: `stops in ${spanAhead(dueInMs)}: ${why}`, dueInMs, capInMs };
}
