// What keeps a session that nobody watches? Work in progress, questions to people, and pins.
import type { IdleLimits } from "../protocol/settings.ts";
import type { IdleGuard, IdleHistory } from "./idle.ts";
import { span, spanAhead } from "./span.ts";

export interface Pin {
  /** Infinity: until the session is closed. */
  until: number;
  by: "keep" | "detach";
}

export interface IdleState extends IdleHistory {
  /** Prompts that the agent has and did not answer yet. */
  outstanding: number;
  turnStartedAt: number;
  lastOutputAt: number;
  /** Prompts that the agent does not have yet. */
  queued: number;
  /** Requests to people without an answer. */
  permissions: number;
  openToolCalls: number;
  pin: Pin | undefined;
}

type Guard = IdleGuard<IdleState>;

/** A pin ends by itself or by hand; in between only the count of idle time moves on. */
const PIN_RECHECK_MS = 5 * 60_000;

const many = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A prompt after a long silence is a beginning: the turn before it says nothing of this one. */
const silentMs = ({ turnStartedAt, lastOutputAt }: IdleState, now: number): number =>
  now - Math.max(turnStartedAt, lastOutputAt);

export const createActiveTurnGuard = (staleOutputMs: number): Guard => ({
  name: "turn",
  shouldKeepAlive(state, now) {
    const silent = silentMs(state, now);
    if (state.outstanding === 0 || silent > staleOutputMs) return { keep: false };
    const what = state.lastOutputAt >= state.turnStartedAt ? "last output" : "started";
    return { keep: true, reason: `turn in progress, ${what} ${span(silent)} ago` };
  },
});

export const createStalledGuard = (staleOutputMs: number): Guard => ({
  name: "stalled turn",
  shouldKeepAlive(state, now) {
    const silent = silentMs(state, now);
    if (state.outstanding === 0 || silent <= staleOutputMs) return { keep: false };
    return { keep: false, reason: `stalled: no output for ${span(silent)}`, grace: false };
  },
});

export const queueGuard: Guard = {
  name: "queue",
  shouldKeepAlive: ({ queued }) =>
    queued > 0 ? { keep: true, reason: `${many(queued, "prompt")} queued` } : { keep: false },
};

export const permissionGuard: Guard = {
  name: "question",
  shouldKeepAlive: ({ permissions }) =>
    permissions > 0
      ? { keep: true, reason: `${many(permissions, "permission request")} without an answer` }
      : { keep: false },
};

export const toolCallGuard: Guard = {
  name: "tool call",
  shouldKeepAlive: ({ outstanding, openToolCalls }) =>
    outstanding === 0 && openToolCalls > 0
      ? { keep: true, reason: `${many(openToolCalls, "tool call")} in progress after the turn` }
      : { keep: false },
};

export const pinGuard: Guard = {
  name: "pin",
  shouldKeepAlive({ pin }, now) {
    if (!pin || now > pin.until) return { keep: false };
    const leftMs = pin.until - now;
    const open = pin.until === Number.POSITIVE_INFINITY ? "pinned" : `pinned for ${spanAhead(leftMs)}`;
    const reason = pin.by === "detach" ? "pinned until its turn has ended" : open;
    return { keep: true, reason, recheckMs: Math.min(leftMs + 1, PIN_RECHECK_MS) };
  },
};

export const sessionGuards = (staleOutputMs: number): Guard[] => [
  createActiveTurnGuard(staleOutputMs),
  createStalledGuard(staleOutputMs),
  queueGuard,
  permissionGuard,
  toolCallGuard,
  pinGuard,
];

/** A pin lifts the cap as far as it reaches, and never lowers it. */
export function withPin(limits: IdleLimits, idleStart: number, pin: Pin | undefined, now: number): IdleLimits {
  if (!pin || now > pin.until || limits.maxIdleMs === 0) return limits;
  const reachMs = pin.until - idleStart;
  return { ...limits, maxIdleMs: reachMs === Number.POSITIVE_INFINITY ? 0 : Math.max(limits.maxIdleMs, reachMs) };
}
