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
  close(): void;
}

/** The newest records are kept as they are: whoever is up to date never reads the file. */
const RECENT_RECORDS = 512;

/** One mark per so many bytes: enough to find a number quickly, little enough to keep. */
const MARK_BYTES = 64 * 1024;

interface Mark {
  seq: number;
  offset: number;
}

const parse = (line: string): SessionRecord | undefined => {
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
  let recent: SessionRecord[] = [];
  let lastSeq = 0;

  const mark = (seq: number, offset: number): void => {
    const last = marks.at(-1);
    if (!last || offset - last.offset >= MARK_BYTES) marks.push({ seq, offset });
  };

  file.eachLine((line, offset) => {
    const record = parse(line);
    if (!record) return;
    lastSeq = record.seq;
    mark(record.seq, offset);
    visit(record);
  });

  const startFor = (seq: number): number => {
    let offset = marks[0]?.offset ?? 0;
    for (const each of marks) {
      if (each.seq > seq) break;
      offset = each.offset;
    }
    return offset;
  };

  return {
    get lastSeq() {
      return lastSeq;
    },
    append(type, data, source) {
      const record: SessionRecord = { seq: lastSeq + 1, at: now(), type, data };
      const offset = file.append(JSON.stringify(source ? { ...record, source } : record));
      // Only what is on disk has a number.
      lastSeq = record.seq;
      mark(record.seq, offset);
      recent.push(record);
      if (recent.length >= 2 * RECENT_RECORDS) recent = recent.slice(-RECENT_RECORDS);
      return record;
    },
    read(after, maxBytes) {
      if (after >= lastSeq) return [];
      const [newest] = recent;
      if (newest && newest.seq <= after + 1) return recent.slice(after + 1 - newest.seq);
      const records: SessionRecord[] = [];
      file.readLines(startFor(after + 1), maxBytes, (line) => {
        const record = parse(line);
        if (record && record.seq > after) records.push(record);
        return records.length > 0;
      });
      return records;
    },
    close: () => file.close(),
  };
}
