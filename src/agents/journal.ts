// What happened in a session, for ever? Append-only lines, numbered once, here; read again from any number on.
import type { Source } from "../core/heard.ts";
import { createSessionFold, noticeRecord, type SessionFold } from "../core/session-fold.ts";
import type { JournalFile } from "../platform/world.ts";
import type { SessionRecord } from "../protocol/agents.ts";

export type { Source };

/** Where what the records add up to is kept, so that the next host reads only the newest of them. */
export interface FoldKeeper {
  read(): string | undefined;
  keep(text: string): void;
  /** A record was added. */
  grew?(journal: Journal): void;
  closed?(journal: Journal): void;
}

export interface Journal {
  readonly lastSeq: number;
  /** What its records add up to. */
  readonly fold: Readonly<SessionFold>;
  /** Keeps the fold, if there is more to it than can be read at once. */
  checkpoint(): void;
  /** Keeps the fold as it is now: then the next host need not open the file. */
  rest(): void;
  append(type: string, data: Record<string, unknown>, source?: Source): SessionRecord;
  /** Records behind `after`, some at a time. */
  read(after: number, maxBytes: number): SessionRecord[];
  /** About how many bytes lie in front of this record; right to one mark. */
  bytesBefore(seq: number): number;
  readonly isClosed: boolean;
  close(): void;
}

/** The newest records are kept as they are, twice so many at most: whoever is up to date never reads the file. */
const RECENT_RECORDS = 512;
const RECENT_CHARACTERS = 512 * 1024;

/** One mark per so many bytes: enough to find a number quickly, little enough to keep. */
const MARK_BYTES = 64 * 1024;

interface Mark {
  seq: number;
  offset: number;
}

/** A long history is folded again after so many bytes, a short one is quickly read. */
const FOLD_BYTES = 64 * 1024;
const SHORT_BYTES = 32 * 1024;
const SEQ = /^\{"seq":(\d+)/;

const isRecord = (value: unknown): value is SessionRecord => {
  if (typeof value !== "object" || value === null) return false;
  const { seq, at, type, data } = value as Partial<SessionRecord>;
  const isData = typeof data === "object" && data !== null && !Array.isArray(data);
  return Number.isSafeInteger(seq) && Number(seq) > 0 && typeof at === "string" && typeof type === "string" && isData;
};

export const parseRecord = (line: string): SessionRecord | undefined => {
  try {
    const record: unknown = JSON.parse(line);
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
};

interface Kept {
  offset: number;
  fold: SessionFold;
}

const readKept = (text: string | undefined): Kept | undefined => {
  try {
    const kept: Kept | undefined = text === undefined ? undefined : JSON.parse(text);
    if (!kept || !Number.isSafeInteger(kept.offset) || !Number.isSafeInteger(kept.fold.seq)) return undefined;
    // As 0.1.0 kept it: of one life only.
    const { source } = kept.fold as { source?: Source };
    if (source) kept.fold.heard ??= [source];
    return kept;
  } catch {
    return undefined;
  }
};

export const foldIn = (text: string | undefined): Readonly<SessionFold> | undefined => readKept(text)?.fold;

export function openJournal(file: JournalFile, now: () => string, folds?: FoldKeeper): Journal {
  const marks: Mark[] = [];
  /** Without a gap up to the last record. */
  let [older, recent]: [SessionRecord[], SessionRecord[]] = [[], []];
  let characters = 0;
  const kept = readKept(folds?.read());
  // A journal that is shorter than its fold is another one.
  const known = kept && kept.offset <= file.bytes ? kept : { offset: 0, fold: createSessionFold() };
  const { fold } = known;
  let foldedAt = known.offset;
  let end = known.offset;
  let isClosed = false;

  const mark = (seq: number, offset: number): void => {
    const last = marks.at(-1);
    if (!last || offset - last.offset >= MARK_BYTES) marks.push({ seq, offset });
  };

  const keep = (record: SessionRecord, size: number): void => {
    if (recent.length >= RECENT_RECORDS || characters + size > RECENT_CHARACTERS) {
      [older, recent, characters] = [recent, [], 0];
    }
    if (size > RECENT_CHARACTERS) [older, recent] = [[], []];
    else recent.push(record);
    characters += size;
  };

  const keepFold = (leastBytes: number): void => {
    if (!folds || isClosed || end - foldedAt < leastBytes) return;
    foldedAt = end;
    try {
      folds.keep(JSON.stringify({ offset: end, fold } satisfies Kept));
    } catch {
      // A full disk: then the next host reads more.
    }
  };

  file.eachLine((line, offset) => {
    end = offset + Buffer.byteLength(line) + 1;
    const record = parseRecord(line);
    if (!record) return;
    mark(record.seq, offset);
    noticeRecord(fold, record);
  }, known.offset);

  /** In front of the first mark nothing was read: the numbers there are searched for. */
  const search = (seq: number, before: number): number => {
    let [low, high] = [0, before];
    while (high - low > MARK_BYTES) {
      // No shift: offsets need more than 32 bits.
      const middle = Math.floor((low + high) / 2);
      const found = file.lineAfter(middle);
      const number = Number(SEQ.exec(found?.line ?? "")?.[1] ?? Number.POSITIVE_INFINITY);
      if (found && number <= seq && found.offset < high) low = found.offset;
      else high = middle;
    }
    return low;
  };

  const bytesBefore = (seq: number): number => {
    const [first] = marks;
    if (known.offset > 0 && (!first || seq < first.seq)) return search(seq, first?.offset ?? end);
    let [low, high] = [0, marks.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((marks[middle]?.seq ?? 0) <= seq) low = middle;
      else high = middle;
    }
    return marks[low]?.offset ?? 0;
  };

  const checkpoint = (): void => keepFold(SHORT_BYTES);

  const journal: Journal = {
    get lastSeq() {
      return fold.seq;
    },
    fold,
    checkpoint,
    rest: () => keepFold(1),
    append(type, data, source) {
      const record: SessionRecord = { seq: fold.seq + 1, at: now(), type, data };
      const whole = source ? { ...record, source } : record;
      const line = JSON.stringify(whole);
      const offset = file.append(line);
      // Only what is on disk has a number.
      end = offset + Buffer.byteLength(line) + 1;
      noticeRecord(fold, whole);
      mark(record.seq, offset);
      keep(record, line.length);
      if (end - foldedAt > FOLD_BYTES || type === "turn-ended") checkpoint();
      folds?.grew?.(journal);
      return record;
    },
    read(after, maxBytes) {
      if (after >= fold.seq) return [];
      for (const kept of [recent, older]) {
        const [first] = kept;
        if (first && first.seq <= after + 1) return kept.slice(after + 1 - first.seq);
      }
      const records: SessionRecord[] = [];
      file.readLines(bytesBefore(after + 1), maxBytes, (line) => {
        const record = parseRecord(line);
        if (record && record.seq > after) {
          // Live or from the file, a record is told the same: its source is the host's own affair.
          const { source: _, ...told } = record;
          records.push(told);
        }
        return records.length > 0;
      });
      return records;
    },
    bytesBefore,
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
      folds?.closed?.(journal);
      file.close();
    },
  };
  return journal;
}
