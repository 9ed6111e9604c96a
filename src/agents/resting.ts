// When does a session rest? When nothing was written for a while: whoever takes over reads its fold then, and no journal.
import type { Cancel, Clock } from "../platform/world.ts";
import type { Journal } from "./journal.ts";

export interface Resting {
  /** Something was written; `rested` is called when its fold is kept as it is. */
  grew(journal: Journal, rested: () => void): void;
  closed(journal: Journal): void;
  /** This host leaves: what is lively stays so. */
  end(): void;
}

const QUIET_MS = 1_000;
/** So many at once: many sessions come to rest together, and a host has other things to do. */
const MOST_AT_ONCE = 20;

export function createResting(clock: Clock): Resting {
  /** With the last number at the last look. */
  const lively = new Map<Journal, { seq: number; rested(): void }>();
  let cancel: Cancel | undefined;
  let isOver = false;

  const look = (): void => {
    cancel = undefined;
    let count = 0;
    for (const [journal, last] of lively) {
      if (journal.lastSeq !== last.seq) last.seq = journal.lastSeq;
      else if (count++ < MOST_AT_ONCE) {
        lively.delete(journal);
        journal.rest();
        last.rested();
      }
    }
    plan();
  };
  const plan = (): void => {
    if (isOver || cancel || lively.size === 0) return;
    cancel = clock.after(QUIET_MS, look);
  };
  return {
    grew(journal, rested) {
      if (lively.has(journal)) return;
      lively.set(journal, { seq: journal.lastSeq, rested });
      plan();
    },
    closed: (journal) => void lively.delete(journal),
    end() {
      isOver = true;
      cancel?.();
    },
  };
}
