// Which entries of a plugin's buffer were missed? Those behind the last ones seen.
import type { LogEntry } from "../protocol/plugin.ts";

const REMEMBERED = 20;

export interface LogTail {
  seen(entry: LogEntry): void;
  /** What stands in the buffer behind what was seen; `complete` is false when the buffer no longer reaches back to it. */
  missed(buffer: readonly LogEntry[]): { entries: readonly LogEntry[]; complete: boolean };
}

const same = (left: LogEntry, right: LogEntry | undefined): boolean =>
  right !== undefined && left.timestamp === right.timestamp && left.level === right.level && left.body === right.body;

export function createLogTail(): LogTail {
  let tail: LogEntry[] = [];
  const endsAt = (buffer: readonly LogEntry[], end: number): boolean =>
    tail.every((entry, index) => {
      const at = end - (tail.length - 1 - index);
      // What the buffer has dropped cannot speak against it.
      return at < 0 || same(entry, buffer[at]);
    });
  return {
    seen(entry) {
      tail = [...tail, entry].slice(-REMEMBERED);
    },
    missed(buffer) {
      if (tail.length === 0) return { entries: buffer, complete: true };
      for (let end = buffer.length - 1; end >= 0; end--) {
        if (endsAt(buffer, end)) return { entries: buffer.slice(end + 1), complete: true };
      }
      return { entries: buffer, complete: buffer.length === 0 };
    },
  };
}
