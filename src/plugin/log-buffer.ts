// What was logged lately? A ring of 1000 entries, which also gives way when bodies are big, so that any answer fits a frame.
import type { LogEntry } from "../protocol/plugin.ts";

export const LOG_CAPACITY = 1000;
const LOG_BYTES = 4 * 1024 * 1024;

export interface LogQuery {
  count?: number | undefined;
  direction?: "head" | "tail" | undefined;
  levels?: readonly string[] | undefined;
}

export interface LogPage {
  entries: LogEntry[];
  /** How many the ring holds, whatever was asked for. */
  total: number;
  bufferCapacity: number;
}

export interface LogBuffer {
  add(entry: LogEntry): void;
  query(query?: LogQuery): LogPage;
  /** How many had to give way. */
  readonly dropped: number;
}

export function createLogBuffer(capacity = LOG_CAPACITY, maxBytes = LOG_BYTES): LogBuffer {
  const ring = new Array<{ entry: LogEntry; bytes: number } | undefined>(capacity);
  let first = 0;
  let held = 0;
  let bytesHeld = 0;
  let dropped = 0;

  const dropOldest = () => {
    bytesHeld -= ring[first]?.bytes ?? 0;
    ring[first] = undefined;
    first = (first + 1) % capacity;
    held -= 1;
    dropped += 1;
  };

  return {
    add(entry) {
      const bytes = Buffer.byteLength(JSON.stringify(entry.body));
      while (held > 0 && (held === capacity || bytesHeld + bytes > maxBytes)) dropOldest();
      ring[(first + held) % capacity] = { entry, bytes };
      held += 1;
      bytesHeld += bytes;
    },
    query({ count = 50, direction = "tail", levels } = {}) {
      const entries: LogEntry[] = [];
      for (let step = 0; step < held && entries.length < count; step += 1) {
        const place = direction === "head" ? first + step : first + held - 1 - step;
        const entry = ring[place % capacity]?.entry;
        if (entry && (!levels || levels.includes(entry.level))) entries.push(entry);
      }
      if (direction === "tail") entries.reverse();
      return { entries, total: held, bufferCapacity: capacity };
    },
    get dropped() {
      return dropped;
    },
  };
}
