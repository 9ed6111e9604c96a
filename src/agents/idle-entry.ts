// What is known of a session that nobody watches? As an earlier host left it on record, the next one goes on.
import type { IdleFold } from "../core/idle-fold.ts";
import type { Countdown } from "../core/idle-forecast.ts";

export interface Idle extends Countdown {
  state: "idle";
  keptBy: readonly string[];
  failingSince: Readonly<Record<string, number>>;
  journaled: boolean;
  /** Nobody is judged sooner. */
  notBefore: number;
  /** Its clients were those of the host before: they have until then to come back, and nothing is written down sooner. */
  awaited: boolean;
}

/** So long clients of a host that is gone may take to come back. */
export const COME_BACK_MS = 30_000;

export const freshIdle = (now: number, notBefore = now): Idle => ({
  state: "idle",
  idleStart: now,
  guardDeferred: false,
  grace: undefined,
  journaled: false,
  dueAt: notBefore,
  notBefore,
  awaited: notBefore > now,
  keptBy: [],
  failingSince: {},
});

/** `first`: nothing was ever checked. Without a word of idleness on record it had clients. */
export function restoredIdle(
  { since: known }: IdleFold,
  now: number,
  since: (at: string) => number,
): Idle & { first: boolean } {
  if (!known) return { ...freshIdle(now, now + COME_BACK_MS), first: true };
  const then = now - since(known.at);
  return {
    ...freshIdle(then),
    idleStart: then - known.idleMs,
    guardDeferred: known.guardDeferred,
    grace: known.guardDeferred || known.delayMs === null ? undefined : known.reason,
    journaled: true,
    dueAt: then + (known.delayMs ?? 0),
    first: known.delayMs === null,
  };
}
