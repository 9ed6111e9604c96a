// Is a session's history whole? Numbered once, read again from any number on, and never kept in memory.
import { describe, expect, test } from "bun:test";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { type Journal, openJournal } from "../../src/agents/journal.ts";
import { openJournalFile } from "../../src/platform/journal-file.ts";
import type { JournalFile } from "../../src/platform/world.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { createDice } from "../support/dice.ts";
import { createFakeFiles } from "../support/fake-files.ts";
import { createTempDir } from "../support/temp-dir.ts";

const now = () => "2030-01-01T00:00:00.000Z";
const open = (path: string): Journal => openJournal(openJournalFile(path), now);

/** Everything behind `after`, as a viewer gets it. */
function readAll(journal: Journal, after: number, bytes = 4_096): SessionRecord[] {
  const records: SessionRecord[] = [];
  for (let cursor = after; ; cursor = records.at(-1)?.seq ?? after) {
    const more = journal.read(cursor, bytes);
    if (more.length === 0) return records;
    records.push(...more);
  }
}

const seqs = (records: readonly SessionRecord[]): number[] => records.map(({ seq }) => seq);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("a journal", () => {
  test("[SE3] numbers from 1, each with its time, one line each, with its source where an agent said it", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const journal = open(path);
    journal.append("prompt", { text: "a\nb" });
    journal.append("update", { update: {} }, { run: "r1", offset: 17 });
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { seq: 1, at: now(), type: "prompt", data: { text: "a\nb" } },
      { seq: 2, at: now(), type: "update", data: { update: {} }, source: { run: "r1", offset: 17 } },
    ]);
    expect(journal.lastSeq).toBe(2);
    journal.close();
  });

  test("[SE3] what is read from the file is the same as what was read when it was new", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const journal = open(path);
    for (let number = 1; number <= 20; number++) {
      journal.append("update", { update: { number } }, { run: "r1", offset: number });
    }
    const live = readAll(journal, 0);
    journal.close();
    const again = open(path);
    expect(readAll(again, 0)).toEqual(live);
    again.close();
  });

  test("[SE3] a number is given once: torn lines are cut at the open, and the next number follows the last whole one", () => {
    for (let seed = 1; seed <= 20; seed++) {
      using directory = createTempDir();
      const dice = createDice(seed);
      const path = directory.at("a.ndjson");
      const told = new Map<number, string>();
      for (let life = 0; life < 6; life++) {
        const journal = open(path);
        for (const { seq, data } of readAll(journal, 0)) expect(told.get(seq)).toBe(String(data["id"]));
        const last = Math.max(0, ...told.keys());
        expect(journal.lastSeq).toBe(last);
        for (let count = dice.whole(0, 30); count > 0; count--) {
          const id = dice.hex(dice.whole(1, 400));
          const { seq } = journal.append("x", { id });
          expect(told.has(seq)).toBe(false);
          told.set(seq, id);
        }
        journal.close();
        // A crash in the middle of the next write.
        const half = `{"seq":${Math.max(0, ...told.keys()) + 1},"at":"`;
        if (dice.chance(0.7)) writeFileSync(path, half.slice(0, dice.whole(1, half.length)), { flag: "a" });
      }
      const journal = open(path);
      expect(readAll(journal, 0).map(({ seq, data }) => [seq, data["id"]])).toEqual([...told]);
      journal.close();
    }
  });

  test("[SE3] replay from any cursor, with any size of pieces, is what was appended behind it, once and in order", () => {
    for (let seed = 1; seed <= 5; seed++) {
      using directory = createTempDir();
      const dice = createDice(seed);
      const path = directory.at("a.ndjson");
      const written: SessionRecord[] = [];
      let journal = open(path);
      for (let number = 0; number < 2_000; number++) {
        if (dice.chance(0.001)) {
          journal.close();
          journal = open(path);
        }
        written.push(journal.append("x", { id: "é".repeat(dice.whole(0, dice.chance(0.01) ? 30_000 : 60)) }));
        if (!dice.chance(0.005)) continue;
        const after = dice.whole(0, journal.lastSeq);
        expect(readAll(journal, after, dice.pick([20_000, 70_000, 1_000_000]))).toEqual(written.slice(after));
      }
      journal.close();
    }
  });

  test("[SE3] lines that are no records, as a bad disk leaves them, are stepped over", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const journal = open(path);
    for (let number = 0; number < 3; number++) journal.append("x", {});
    journal.close();
    const [one, , three] = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, `${one}\n\0\0\0{broken}\n${three}\n`);
    const again = open(path);
    expect(seqs(readAll(again, 0))).toEqual([1, 3]);
    expect(again.append("x", {}).seq).toBe(4);
    again.close();
  });

  test("[SE3] a write that fails gives no number away: the next record has it", () => {
    const files = createFakeFiles();
    const journal = openJournal(files.journal("/a"), now);
    journal.append("x", { id: 1 });
    files.failWrites(2);
    expect(() => journal.append("x", { id: 2 })).toThrow("ENOSPC");
    expect(() => journal.append("x", { id: 2 })).toThrow("ENOSPC");
    expect(journal.append("x", { id: 3 }).seq).toBe(2);
    expect(readAll(journal, 0).map(({ data }) => data["id"])).toEqual([1, 3]);
  });
});

describe("memory", () => {
  test("[SE3] 200,000 records cost marks only, at the open and while they are written", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const heap = (): number => {
      Bun.gc(true);
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    const journal = open(path);
    for (let number = 0; number < 200_000; number++) {
      const update = {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: `${number} and some more` },
      };
      journal.append("update", { update }, { run: "r1", offset: number });
    }
    expect(heap() - before).toBeLessThan(6_000_000);
    expect(seqs(journal.read(150_000, 1)).slice(0, 1)).toEqual([150_001]);
    journal.close();
    const reopened = heap();
    const again = open(path);
    expect(again.lastSeq).toBe(200_000);
    expect(heap() - reopened).toBeLessThan(6_000_000);
    const took = (work: () => void): number => {
      const from = performance.now();
      work();
      return performance.now() - from;
    };
    const whole = took(() =>
      expect(
        readFileSync(path, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      ).toHaveLength(200_000),
    );
    const parts = took(() => {
      for (const after of [0, 99_999, 199_998]) expect(again.read(after, 1)[0]?.seq).toBe(after + 1);
    });
    expect(parts).toBeLessThan(whole);
    again.close();
  });

  test("[SE3] big records are not kept either: whoever wants them reads the file", () => {
    using directory = createTempDir();
    const file = openJournalFile(directory.at("a.ndjson"));
    let reads = 0;
    const counted: JournalFile = {
      ...file,
      readLines(...args) {
        reads++;
        file.readLines(...args);
      },
    };
    const journal = openJournal(counted, now);
    const big = "x".repeat(1_000_000);
    for (let number = 0; number < 30; number++) journal.append("x", { big });
    expect(seqs(readAll(journal, 0, 1))).toEqual(range(1, 30));
    expect(reads).toBe(30);
    for (let number = 0; number < 100; number++) journal.append("x", {});
    reads = 0;
    expect(seqs(readAll(journal, 30))).toEqual(range(31, 130));
    expect(reads).toBe(0);
    journal.close();
  });

  test("[SE3] a journal cut behind its back tells nothing twice", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const journal = open(path);
    for (let number = 0; number < 5; number++) journal.append("x", {});
    journal.close();
    truncateSync(path, 0);
    const again = open(path);
    expect([again.lastSeq, readAll(again, 0)]).toEqual([0, []]);
    again.close();
  });
});
