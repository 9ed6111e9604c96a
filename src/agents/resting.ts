// When is a session's fold kept as it is? When nothing was written for a while: whoever takes over reads that, and no journal.
import type { Clock } from "../platform/world.ts";
import type { Journal } from "./journal.ts";

export interface Resting {
  /** Something was written. */
  grew(journal: Journal): void;
  closed(journal: Journal): void;
}

const QUIET_MS = 1_000;
/** So many at once: many sessions come to rest together, and a host has other things to do. */
const MOST_AT_ONCE = 20;

export function createResting(clock: Clock): Resting {
  /** With the last number at the last look. */
  const lively = new Map<Journal, number>();
  let isPlanned = false;

  const look = (): void => {
    isPlanned = false;
    let kept = 0;
    for (const [journal, seq] of lively) {
      if (journal.lastSeq !== seq) lively.set(journal, journal.lastSeq);
      else if (kept++ < MOST_AT_ONCE) {
        lively.delete(journal);
        journal.rest();
      }
    }
    plan();
  };
  const plan = (): void => {
    if (isPlanned || lively.size === 0) return;
    isPlanned = true;
    clock.after(QUIET_MS, look);
  };
  return {
    grew(journal) {
      if (lively.has(journal)) return;
      lively.set(journal, journal.lastSeq);
      plan();
    },
    closed: (journal) => void lively.delete(journal),
  };
}
