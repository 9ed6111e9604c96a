// What happened in a session, for ever? Append-only lines, numbered once, here; read again from any number on.
import type { JournalFile } from "../platform/world.ts";
import { SessionRecord } from "../protocol/agents.ts";

export interface Source {
  /** Which life of the agent process. */
  run: string;
  offset: number;
}

export interface Journal {
  readonly lastSeq: number;
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

export const parseRecord = (line: string): SessionRecord | undefined => {
  try {
    const record = SessionRecord.safeParse(JSON.parse(line));
    return record.success ? record.data : undefined;
  } catch {
    return undefined;
  }
};

/** `visit` sees what is there already, once. */
export function openJournal(
  file: JournalFile,
  now: () => string,
  visit: (record: SessionRecord) => void = () => {},
): Journal {
  const marks: Mark[] = [];
  /** Without a gap up to the last record. */
  let [older, recent]: [SessionRecord[], SessionRecord[]] = [[], []];
  let characters = 0;
  let lastSeq = 0;
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

  file.eachLine((line, offset) => {
    const record = parseRecord(line);
    if (!record) return;
    lastSeq = record.seq;
    mark(record.seq, offset);
    visit(record);
  });

  const bytesBefore = (seq: number): number => {
    let [low, high] = [0, marks.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((marks[middle]?.seq ?? 0) <= seq) low = middle;
      else high = middle;
    }
    return marks[low]?.offset ?? 0;
  };

  return {
    get lastSeq() {
      return lastSeq;
    },
    append(type, data, source) {
      const record: SessionRecord = { seq: lastSeq + 1, at: now(), type, data };
      const line = JSON.stringify(source ? { ...record, source } : record);
      const offset = file.append(line);
      // Only what is on disk has a number.
      lastSeq = record.seq;
      mark(record.seq, offset);
      keep(record, line.length);
      return record;
    },
    read(after, maxBytes) {
      if (after >= lastSeq) return [];
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
      file.close();
    },
  };
}
