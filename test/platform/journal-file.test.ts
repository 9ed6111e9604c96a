// Does a journal on disk survive what befalls it? Torn lines, files that cannot grow, and reading from anywhere.
import { describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openJournalFile } from "../../src/platform/journal-file.ts";
import { createDice } from "../support/dice.ts";
import { createTempDir } from "../support/temp-dir.ts";

const linesOf = (path: string): { line: string; offset: number }[] => {
  const lines: { line: string; offset: number }[] = [];
  const file = openJournalFile(path);
  file.eachLine((line, offset) => void lines.push({ line, offset }));
  file.close();
  return lines;
};

describe("a journal's file", () => {
  test("[SE3] is private, and tells each line with where it begins", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const file = openJournalFile(path);
    const offsets = ["one", "zwölf", "", "🦀"].map((line) => file.append(line));
    expect(offsets).toEqual([0, 4, 11, 12]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    file.close();
    expect(linesOf(path).map(({ line, offset }) => [line, offset])).toEqual([
      ["one", 0],
      ["zwölf", 4],
      ["", 11],
      ["🦀", 12],
    ]);
  });

  test("[SE3] a torn last line is cut when it is opened, also one longer than a read", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    writeFileSync(path, "whole\n{half", { mode: 0o600 });
    expect(linesOf(path).map(({ line }) => line)).toEqual(["whole"]);
    expect(readFileSync(path, "utf8")).toBe("whole\n");
    appendFileSync(path, "x".repeat(1_000_000));
    expect(linesOf(path).map(({ line }) => line)).toEqual(["whole"]);
    expect(statSync(path).size).toBe(6);
    writeFileSync(path, "y".repeat(600_000), { mode: 0o600 });
    expect(linesOf(path)).toEqual([]);
    expect(statSync(path).size).toBe(0);
  });

  test("[SE3] cut anywhere, it holds the whole lines before the cut, and goes on behind them", () => {
    for (let seed = 1; seed <= 60; seed++) {
      using directory = createTempDir();
      const dice = createDice(seed);
      const path = directory.at("a.ndjson");
      const file = openJournalFile(path);
      const lines = Array.from({ length: 40 }, () => "é".repeat(dice.whole(0, dice.chance(0.05) ? 200_000 : 40)));
      for (const line of lines) file.append(line);
      file.close();
      const whole = readFileSync(path);
      const cut = dice.whole(0, whole.length);
      truncateSync(path, cut);
      const left = whole.subarray(0, cut).toString("utf8").split("\n").length - 1;
      const again = openJournalFile(path);
      again.append("after");
      again.close();
      expect(linesOf(path).map(({ line }) => line)).toEqual([...lines.slice(0, left), "after"]);
    }
  });

  test("[SE3] is read from any line on, in pieces of about the size that was asked for", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const file = openJournalFile(path);
    const lines = Array.from({ length: 20_000 }, (_, number) => `${number} ${"x".repeat(50)}`);
    const offsets = lines.map((line) => file.append(line));
    for (const from of [0, 1, 7_777, 19_999]) {
      const read: string[] = [];
      file.readLines(offsets[from] ?? 0, 10_000, (line) => read.push(line) > 0);
      expect(read).toEqual(lines.slice(from, from + read.length));
      const bytes = read.join("\n").length;
      expect(bytes).toBeLessThan(10_200);
      expect(from + read.length === lines.length || bytes >= 9_900).toBe(true);
    }
    file.close();
  });

  test("[SE3] an unlimited reader that says enough late still gets the line it wants", () => {
    using directory = createTempDir();
    const file = openJournalFile(directory.at("a.ndjson"));
    for (let number = 0; number < 10_000; number++) file.append(`${number} ${"x".repeat(50)}`);
    let last = "";
    file.readLines(0, 1, (line) => {
      last = line;
      return line.startsWith("9000 ");
    });
    expect(last.startsWith("9000 ")).toBe(true);
    file.close();
  });

  test("[SE3] where the file cannot grow, the append fails with the reason, leaves no half line, and the next may succeed", () => {
    using directory = createTempDir();
    const path = directory.at("a.ndjson");
    const line = "0123456789".repeat(7);
    const fixture = join(import.meta.dir, "../fixtures/agents/small-disk.ts");
    const script = 'trap \'\' XFSZ; ulimit -f 8; exec "$0" "$@"';
    const ran = Bun.spawnSync(["sh", "-c", script, process.execPath, fixture, path, line]);
    const { written, failures } = JSON.parse(ran.stdout.toString());
    expect(failures).toEqual(["EFBIG", "EFBIG", "EFBIG"]);
    expect(written).toBeGreaterThan(10);
    expect(readFileSync(path, "utf8").endsWith(`${line}${written - 1}\n`)).toBe(true);
    const again = openJournalFile(path);
    again.append("there is room again");
    again.close();
    expect(linesOf(path)).toHaveLength(written + 1);
  });

  test("[SE3] on a device that is full the reason is told, although nothing can be cut there", () => {
    const file = openJournalFile("/dev/full");
    expect(() => file.append("x")).toThrow("ENOSPC");
    file.close();
  });
});

test("[SC3] a journal that others can read is an error that names it", () => {
  using directory = createTempDir();
  const path = directory.at("journal.ndjson");
  writeFileSync(path, "one\n", { mode: 0o600 });
  chmodSync(path, 0o644);
  expect(() => openJournalFile(path)).toThrow(path);
});
