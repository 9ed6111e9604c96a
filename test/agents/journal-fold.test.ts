// Does a long history cost the next host little? It opens behind the fold that was kept, and old numbers are still found.
import { describe, expect, test } from "bun:test";
import { appendFileSync, truncateSync } from "node:fs";
import { type FoldKeeper, type Journal, openJournal } from "../../src/agents/journal.ts";
import { createViewers } from "../../src/agents/viewers.ts";
import { openJournalFile } from "../../src/platform/journal-file.ts";
import type { JournalFile } from "../../src/platform/world.ts";
import { createDice } from "../support/dice.ts";
import { createTempDir } from "../support/temp-dir.ts";

const now = () => "2030-01-01T00:00:00.000Z";

interface Counted extends JournalFile {
  lines: number;
  searched: number;
}

function counted(path: string): Counted {
  const file = openJournalFile(path);
  const seen: Counted = {
    ...file,
    get bytes() {
      return file.bytes;
    },
    lines: 0,
    searched: 0,
    eachLine: (tell, from) =>
      file.eachLine((line, offset) => {
        seen.lines++;
        tell(line, offset);
      }, from),
    lineAfter(offset) {
      seen.searched++;
      return file.lineAfter(offset);
    },
  };
  return seen;
}

function memory(): FoldKeeper & { text: string | undefined; kept: number } {
  const folds = {
    text: undefined as string | undefined,
    kept: 0,
    read: () => folds.text,
    keep(text: string) {
      folds.text = text;
      folds.kept++;
    },
  };
  return folds;
}

const PAD = "x".repeat(1_000);
const fill = (journal: Journal, count: number): void => {
  for (let index = 0; index < count; index++) {
    journal.append("update", { update: { number: index, PAD } }, { run: "r", offset: index });
  }
};

function longHistory(path: string, records = 5_000) {
  const folds = memory();
  const journal = openJournal(openJournalFile(path), now, folds);
  journal.append("session-created", { agent: "a", cwd: "/w" });
  fill(journal, records);
  const { fold } = journal;
  journal.close();
  return { folds, fold };
}

describe("opening", () => {
  test("[KP4] a long history is read behind its fold only, and adds up to the same", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const { folds, fold } = longHistory(path);
    const file = counted(path);
    const again = openJournal(file, now, folds);
    expect(again.fold).toEqual(fold);
    expect(again.lastSeq).toBe(5_001);
    // At most so much was written since the last fold.
    expect(file.lines).toBeLessThan((1024 * 1024) / PAD.length + 10);
    expect(folds.kept).toBeGreaterThanOrEqual(4);
    again.close();
  });

  test("[KP4] a turn's end keeps a fold, and so does a host that leaves; a short history needs none", () => {
    using directory = createTempDir();
    const folds = memory();
    const journal = openJournal(openJournalFile(directory.at("a.ndjson")), now, folds);
    journal.append("turn-ended", { promptId: "p" });
    journal.checkpoint();
    expect(folds.kept).toBe(0);
    fill(journal, 40);
    expect(folds.kept).toBe(0);
    journal.append("turn-ended", { promptId: "p" });
    expect(folds.kept).toBe(1);
    fill(journal, 40);
    expect(folds.kept).toBe(1);
    journal.checkpoint();
    expect(folds.kept).toBe(2);
    journal.close();
  });

  test("[KP4] a fold that reaches beyond the file belongs to another one, and a broken one to none: all is read", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const { folds } = longHistory(path);
    truncateSync(path, 200_000);
    for (const text of [folds.text, "{torn", "null", "{}", '{"offset":"x","fold":{"seq":1}}', '{"offset":5}']) {
      const file = counted(path);
      const journal = openJournal(file, now, { read: () => text, keep() {} });
      expect([text?.slice(0, 12), journal.fold.agent, journal.lastSeq]).toEqual([text?.slice(0, 12), "a", file.lines]);
      journal.close();
    }
  });

  test("[KP4] a torn tail behind a fold is cut, and the next number follows the last whole one", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const { folds } = longHistory(path);
    appendFileSync(path, '{"seq":5002,"at":"2030');
    const journal = openJournal(openJournalFile(path), now, folds);
    expect(journal.append("update", {}).seq).toBe(5_002);
    expect(journal.read(5_000, 1).map(({ seq }) => seq)).toEqual([5_001]);
    journal.close();
  });

  test("[KP4] [KP9] a fold that cannot be kept stops nobody", () => {
    using directory = createTempDir();
    const full = () => {
      throw new Error("ENOSPC");
    };
    const journal = openJournal(openJournalFile(directory.at("a.ndjson")), now, { read: () => undefined, keep: full });
    fill(journal, 3_000);
    expect(journal.lastSeq).toBe(3_000);
    journal.close();
  });
});

describe("reading again", () => {
  test("[KP4] numbers from before the fold are searched for, not read up to, wherever they are", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const { folds } = longHistory(path);
    const file = counted(path);
    const journal = openJournal(file, now, folds);
    const opened = file.lines;
    for (const after of [0, 1, 2, 63, 64, 1_000, 2_500, 4_000, 4_096, 4_999, 5_000]) {
      expect({ after, first: journal.read(after, 1)[0]?.seq }).toEqual({ after, first: after + 1 });
    }
    expect([file.lines, file.searched > 0, file.searched < 200]).toEqual([opened, true, true]);
    journal.close();
  });

  test("[KP4] lines of any length, folds at any place: every number is found, seeded", () => {
    for (let seed = 1; seed <= 8; seed++) {
      using directory = createTempDir();
      const dice = createDice(seed);
      const path = directory.at("a.ndjson");
      const folds = memory();
      const journal = openJournal(openJournalFile(path), now, folds);
      while (folds.kept < 2) {
        const length = dice.pick([1, 10, 500, 70_000, dice.whole(1, 200_000)]);
        journal.append("update", { text: "y".repeat(length) }, { run: "r", offset: journal.lastSeq });
      }
      fill(journal, dice.whole(0, 50));
      const { lastSeq } = journal;
      journal.close();
      const again = openJournal(openJournalFile(path), now, folds);
      for (let after = 0; after < lastSeq; after++) {
        expect({ seed, after, first: again.read(after, 1)[0]?.seq }).toEqual({ seed, after, first: after + 1 });
      }
      again.close();
    }
  });

  test("[KP2] a viewer that comes back gets everything behind its cursor, old and new, once and in order", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const { folds } = longHistory(path);
    const journal = openJournal(openJournalFile(path), now, folds);
    const viewers = createViewers(journal);
    const got: number[] = [];
    viewers.attach("ann", 17, (records) => {
      got.push(...records.map(({ seq }) => seq));
      queueMicrotask(() => viewers.acknowledged("ann", got.at(-1) ?? 0));
    });
    return Promise.resolve()
      .then(async () => {
        while (got.at(-1) !== 5_001) await Bun.sleep(0);
        expect(got).toEqual(Array.from({ length: 5_001 - 17 }, (_, index) => 18 + index));
      })
      .finally(() => journal.close());
  });

  test("[KP4] in a journal of more than two gigabytes too: offsets are larger than 32 bits", () => {
    const LINE = 100_000;
    const records = 40_000;
    const lineAt = (index: number): string => JSON.stringify({ seq: index + 1, at: now(), type: "t", data: {} });
    let reads = 0;
    const file: JournalFile = {
      bytes: LINE * records,
      eachLine() {},
      lineAfter(offset) {
        if (!(offset >= 0)) throw new Error(`There is no offset ${offset}`);
        reads++;
        const index = Math.floor(offset / LINE) + 1;
        return index < records ? { line: lineAt(index), offset: index * LINE } : undefined;
      },
      append: () => 0,
      readLines(offset, _, enough) {
        for (let index = Math.ceil(offset / LINE); index < records; index++) if (enough(lineAt(index))) return;
      },
      close() {},
    };
    const empty = openJournal({ ...file, bytes: 0 }, now);
    const fold = { ...empty.fold, seq: records };
    const text = JSON.stringify({ offset: file.bytes, fold });
    const journal = openJournal(file, now, { read: () => text, keep() {} });
    for (const after of [0, 100, 21_474, 30_000, 39_998]) {
      expect(journal.read(after, 1)[0]?.seq).toBe(after + 1);
    }
    expect(reads).toBeLessThan(200);
  });
});
