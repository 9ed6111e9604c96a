// How does a process that others depend on write its output? Without ever waiting for whoever reads it.

const LIMIT_BYTES = 64 * 1024 * 1024;
const ROOM_BYTES = 1024 * 1024;

export interface StreamOut {
  out(text: string): void;
  /** Resolves when most of it is read: who can wait does so here, and nothing of his is dropped. */
  room(): Promise<void>;
}

/** A reader that stalls would stop a host at 64 KiB of output; past our own limit it is dropped, and that is said. */
export function createStreamOut(closed: () => void, dropping: () => void): StreamOut {
  let waitingBytes = 0;
  let isDropping = false;
  let waiters: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of waiters) resolve();
    waiters = [];
  };
  process.stdout.on("error", () => {
    waitingBytes = 0;
    wake();
    closed();
  });
  return {
    out(text) {
      if (waitingBytes > LIMIT_BYTES) {
        if (!isDropping) dropping();
        isDropping = true;
        return;
      }
      isDropping = false;
      waitingBytes += text.length;
      process.stdout.write(text, () => {
        waitingBytes -= text.length;
        if (waitingBytes <= ROOM_BYTES) wake();
      });
    },
    room: () => (waitingBytes <= ROOM_BYTES ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
