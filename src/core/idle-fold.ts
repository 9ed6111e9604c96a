// What is on record of a session's idleness? Enough for the next host to reach the same verdict.
import type { SessionRecord } from "../protocol/agents.ts";

export interface FoldedPin {
  /** When it was set. */
  at: string;
  /** Null: until the session is closed. */
  forMs: number | null;
  /** Until the turn of this prompt has ended. */
  promptId?: string;
}

export interface IdleFold {
  /**
   * The last word of a session that nobody watches: how long it had been so, and when it was to be looked at again.
   * Without it, and not stopped, somebody was attached or had just asked.
   */
  since?: { at: string; idleMs: number; delayMs: number | null; guardDeferred: boolean; reason: string };
  stopped?: { reason: string; at: string };
  pins: FoldedPin[];
}

const numberIn = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Changes the fold: whoever asks is with the session. */
export function noticeAsked(fold: IdleFold): void {
  delete fold.since;
  delete fold.stopped;
}

/** Changes the fold. */
export function noticeIdle(fold: IdleFold, { at, type, data }: SessionRecord): void {
  switch (type) {
    case "idle-started":
    case "idle-checked": {
      const { idleMs, delayMs, guardDeferred, reason } = data;
      const due = type === "idle-checked" ? numberIn(delayMs) : null;
      const text = String(reason ?? "");
      fold.since = { at, idleMs: numberIn(idleMs), delayMs: due, guardDeferred: guardDeferred === true, reason: text };
      delete fold.stopped;
      return;
    }
    case "idle-ended":
      return noticeAsked(fold);
    case "idle-stopped":
      delete fold.since;
      fold.stopped = { reason: String(data["reason"] ?? ""), at: String(data["at"] ?? at) };
      return;
    case "unpinned":
      fold.pins = [];
      return;
    case "pinned": {
      const { forMs, promptId } = data;
      const pin = { at, forMs: typeof forMs === "number" ? forMs : null };
      const others = fold.pins.filter((each) => each.promptId !== promptId);
      fold.pins = [...others, typeof promptId === "string" ? { ...pin, promptId } : pin];
      return;
    }
  }
}
