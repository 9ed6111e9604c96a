// What is known of a session that nobody watches? As an earlier host left it on record, the next one goes on.
import type { Countdown } from "../core/idle-forecast.ts";
import type { SessionFold } from "../core/session-fold.ts";

export interface Idle extends Countdown {
  state: "idle";
  keptBy: readonly string[];
  failingSince: Readonly<Record<string, number>>;
  journaled: boolean;
}

/** `first`: nothing was ever checked. Its clients were those of the old host: whoever comes back is attached in a moment. */
export function restoredIdle(
  { idle, at }: Pick<SessionFold, "idle" | "at">,
  now: number,
  since: (at: string) => number,
): Idle & { first: boolean } {
  const known = idle.since ?? { at, idleMs: 0, delayMs: null, guardDeferred: false, reason: "" };
  const then = now - since(known.at);
  return {
    state: "idle",
    idleStart: then - known.idleMs,
    guardDeferred: known.guardDeferred,
    grace: known.guardDeferred || known.delayMs === null ? undefined : known.reason,
    journaled: idle.since !== undefined,
    dueAt: then + (known.delayMs ?? 0),
    keptBy: [],
    failingSince: {},
    first: known.delayMs === null,
  };
}
