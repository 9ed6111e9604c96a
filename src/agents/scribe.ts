// What if the disk is full? What was said waits, nobody is ended for it, and new prompts are told why they must wait.
import type { Cancel, Clock } from "../platform/world.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { Journal, Source } from "./journal.ts";

export interface Scribe {
  record(type: string, data: Record<string, unknown>, source?: Source): void;
  /** Written now, or refused: it never waits. */
  mustRecord(type: string, data: Record<string, unknown>): void;
  /** Throws while the journal cannot be written. */
  mustWrite(): void;
  /** Something still waits to be written. */
  readonly isBehind: boolean;
  /** Resolves when nothing waits any more; false: this host ended before. */
  written(): Promise<boolean>;
  /** From now on nothing is written. */
  end(): void;
  readonly isOver: boolean;
}

interface Waiting {
  type: string;
  data: Record<string, unknown>;
  source: Source | undefined;
}

const RETRY_MS = 1_000;
const MAX_WAITING = 100_000;

export const diskFull = (why: string): Fault =>
  new Fault("DISK_FULL", `The session's journal cannot be written: ${why}; make room and try again`);

/** `notice`: why nothing can be written, and that it goes on. */
export function createScribe(
  clock: Clock,
  journal: Journal,
  written: () => void,
  notice: (text: string) => void = () => {},
): Scribe {
  const waiting: Waiting[] = [];
  const whenWritten: ((isWritten: boolean) => void)[] = [];
  let lost = 0;
  let trouble: string | undefined;
  let cancel: Cancel = () => {};
  let over = false;

  const failed = (thrown: unknown): void => {
    // It is not the disk: another host has the journal now.
    if (isOver()) return;
    if (trouble === undefined) notice(diskFull(messageOf(thrown)).message);
    trouble = messageOf(thrown);
    cancel();
    cancel = clock.after(RETRY_MS, write);
  };

  // Whoever still has something to tell of a session that was let go tells nobody.
  const isOver = (): boolean => over || journal.isClosed;

  const write = (): void => {
    if (isOver()) return;
    try {
      let done = 0;
      try {
        for (const { type, data, source } of waiting) {
          journal.append(type, data, source);
          done++;
        }
      } finally {
        waiting.splice(0, done);
        if (done > 0) written();
      }
      const missing = lost;
      if (lost > 0) journal.append("records-lost", { count: lost, message: "The disk was full for too long" });
      lost = 0;
      if (trouble !== undefined) notice(`The journal can be written again; ${missing} records were lost`);
      trouble = undefined;
      for (const tell of whenWritten.splice(0)) tell(true);
    } catch (thrown) {
      failed(thrown);
    }
  };

  const mustWrite = (): void => {
    if (trouble !== undefined) throw diskFull(trouble);
  };

  return {
    record(type, data, source) {
      if (isOver()) return;
      if (waiting.length < MAX_WAITING) waiting.push({ type, data, source });
      else lost++;
      // Behind trouble the timer tries again: not each of a thousand updates.
      if (trouble === undefined) write();
    },
    mustRecord(type, data) {
      if (isOver()) throw new Fault("REFUSED", "This session is ended here; ask for it again");
      mustWrite();
      try {
        journal.append(type, data);
        written();
      } catch (thrown) {
        // Not for lack of room: it says itself what is wrong, and what to do.
        if (thrown instanceof Fault) throw thrown;
        failed(thrown);
      }
      mustWrite();
    },
    mustWrite,
    get isBehind() {
      return waiting.length > 0;
    },
    written() {
      if (isOver() || waiting.length === 0) return Promise.resolve(!isOver());
      return new Promise((resolve) => void whenWritten.push(resolve));
    },
    end() {
      over = true;
      cancel();
      for (const tell of whenWritten.splice(0)) tell(false);
    },
    get isOver() {
      return isOver();
    },
  };
}
