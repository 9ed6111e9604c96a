// What if an agent speaks of a session before it has told its name? Kept for a moment, within bounds.

import type { Source } from "./journal.ts";

export interface SaidUpdate {
  update: Record<string, unknown>;
  /** What stood beside it in the agent's line. */
  beside?: Record<string, unknown>;
  source?: Source;
}

export interface EarlyUpdates {
  keep(sessionId: string, update: SaidUpdate): void;
  take(sessionId: string): SaidUpdate[];
}

const MAX_SESSIONS = 64;
const MAX_UPDATES = 32;

export function createEarlyUpdates(): EarlyUpdates {
  const early = new Map<string, SaidUpdate[]>();
  return {
    keep(sessionId, update) {
      const kept = early.get(sessionId) ?? [];
      if (kept.length < MAX_UPDATES) kept.push(update);
      early.set(sessionId, kept);
      const [oldest] = early.keys();
      if (early.size > MAX_SESSIONS && oldest !== undefined) early.delete(oldest);
    },
    take(sessionId) {
      const kept = early.get(sessionId) ?? [];
      early.delete(sessionId);
      return kept;
    },
  };
}
