// What does somebody else append to a file? Told as it comes: the watch alone misses writes that follow each other closely.
import { closeSync, type FSWatcher, openSync, readSync, watch } from "node:fs";
import type { Tail } from "./agent-world.ts";
import type { Clock } from "./world.ts";

const CHUNK_BYTES = 256 * 1024;
/** After a word of the watch: what follows it closely has none of its own. */
const AGAIN_MS = [1, 2];
const POLL_MS = 100;
/** Then others get their turn: a flood must not keep the host from its clients. */
const BURST_BYTES = 256 * 1024;

/** Undefined where the system has no more watches to give: then the patrol is all there is. */
function watchOrNot(path: string, persistent: boolean, told: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent }, told);
    // A watch that breaks leaves the patrol.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/**
 * Before a port is bound. A process that is killed closes its descriptors from the highest number down, and the one
 * behind all watches takes the kernel 10 to 20 ms (measured): above the listening socket it would keep the port so long.
 */
export const openWatchesFirst = (directory: string): void => void watchOrNot(directory, false, () => {});

export function tailFile(clock: Clock, path: string, from: number, tell: (bytes: Uint8Array) => void): Tail {
  const fd = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = from;
  let open = true;
  let again = (): void => {};
  let poll = (): void => {};
  let reading = false;
  let isBehind = false;

  /** Whether the end was reached. */
  const read = (maxBytes: number): boolean => {
    for (let total = 0; total < maxBytes; ) {
      if (!open) return true;
      const bytes = readSync(fd, chunk, 0, CHUNK_BYTES, at);
      if (bytes === 0) return true;
      at += bytes;
      total += bytes;
      tell(chunk.subarray(0, bytes));
    }
    return false;
  };

  function look(): void {
    if (!open || reading) return;
    reading = true;
    try {
      isBehind = !read(BURST_BYTES);
      if (isBehind) {
        again();
        again = clock.after(0, look);
      }
    } finally {
      reading = false;
    }
  }
  const told = (): void => {
    // In a flood there is a word for every write: each would be another burst before anybody else's turn.
    if (isBehind) return;
    look();
    lookAgain(0);
  };
  function lookAgain(time: number): void {
    const ms = AGAIN_MS[time];
    if (ms === undefined || isBehind) return;
    again();
    again = clock.after(ms, () => {
      look();
      lookAgain(time + 1);
    });
  }
  function patrol(): void {
    if (!open) return;
    look();
    poll = clock.after(POLL_MS, patrol);
  }
  const watcher = watchOrNot(path, true, told);
  poll = clock.after(0, patrol);
  return {
    get offset() {
      return at;
    },
    drain() {
      while (!read(Number.POSITIVE_INFINITY));
    },
    stop() {
      if (!open) return;
      open = false;
      again();
      poll();
      watcher?.close();
      closeSync(fd);
    },
  };
}
