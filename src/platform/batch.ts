// How do several frames of one turn of the event loop leave? The first at once, the others together at the turn's end:
// a system call for each costs more than all the rest of the relaying.

export interface Batch {
  push(text: string): void;
  /** Writes what waits, so that what the caller does next comes after it. */
  flush(): void;
}

/** The runtime gathers no more than about this before it writes. */
const GATHERED_CHARACTERS = 16 * 1024;

export function createBatch(
  write: (text: string) => void,
  together: (run: () => void) => void,
  atTurnEnd: (run: () => void) => void,
): Batch {
  let waiting: string[] = [];
  let characters = 0;
  let inTurn = false;

  const flush = (): void => {
    if (waiting.length === 0) return;
    const texts = waiting;
    waiting = [];
    characters = 0;
    together(() => {
      for (const text of texts) write(text);
    });
  };
  const turnEnded = (): void => {
    // Still in the turn: what is pushed while these are written comes after them.
    while (waiting.length > 0) flush();
    inTurn = false;
  };

  return {
    push(text) {
      if (!inTurn) {
        inTurn = true;
        atTurnEnd(turnEnded);
        return write(text);
      }
      waiting.push(text);
      characters += text.length;
      if (characters > GATHERED_CHARACTERS) flush();
    },
    flush,
  };
}
