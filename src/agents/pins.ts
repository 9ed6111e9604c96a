// Which sessions are kept on purpose? By hand for a time or for ever, and by a prompt that nobody waits for.
import type { FoldedPin } from "../core/idle-fold.ts";
import type { Pin } from "../core/idle-guards.ts";
import type { AgentSession } from "./session.ts";

export interface Pins {
  /** Null: until it is closed; 0: no longer. */
  keep(session: AgentSession, forMs: number | null, now: number): void;
  /** Until its turn has ended. */
  detach(session: AgentSession, promptId: string, now: number): void;
  /** The one that reaches farthest; it may be over. */
  of(session: AgentSession): Pin | undefined;
  drop(session: AgentSession): void;
  /** What an earlier host set; `since` says how long ago that was. */
  restore(session: AgentSession, pins: readonly FoldedPin[], now: number, since: (at: string) => number): void;
}

export const DETACHED_MS = 24 * 60 * 60_000;

export function createPins(): Pins {
  const kept = new Map<AgentSession, number>();
  const detached = new Map<AgentSession, Map<string, number>>();
  const drop = (session: AgentSession): void => {
    kept.delete(session);
    detached.delete(session);
  };
  return {
    drop,
    restore(session, pins, now, since) {
      for (const { at, forMs, promptId } of pins) {
        const until = forMs === null ? Number.POSITIVE_INFINITY : now - since(at) + forMs;
        if (promptId === undefined) kept.set(session, until);
        else detached.set(session, (detached.get(session) ?? new Map()).set(promptId, until));
      }
    },
    keep(session, forMs, now) {
      if (forMs === 0) drop(session);
      else kept.set(session, forMs === null ? Number.POSITIVE_INFINITY : now + forMs);
    },
    detach(session, promptId, now) {
      const prompts = detached.get(session) ?? new Map<string, number>();
      detached.set(session, prompts.set(promptId, now + DETACHED_MS));
    },
    of(session) {
      const prompts = [...(detached.get(session) ?? [])].filter(([promptId]) => session.isOpen(promptId));
      const pins = prompts.map(([, until]): Pin => ({ until, by: "detach" }));
      const until = kept.get(session);
      if (until !== undefined) pins.push({ until, by: "keep" });
      return pins.toSorted((left, right) => right.until - left.until)[0];
    },
  };
}
