// Where do a background host's notices go? Into five files of 1 MiB, the newest without a number.
import { afterAll, expect, test } from "bun:test";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import { createFileLog, createNoteLog } from "../../src/platform/log.ts";

const MIB = 1024 * 1024;
const base = mkdtempSync(join(tmpdir(), "holdfast-log-"));
afterAll(() => rmSync(base, { recursive: true }));

let made = 0;
const open = () => {
  const directory = mkdtempSync(join(base, `${made++}-`));
  const path = join(directory, "host.log");
  return { directory, path, log: createFileLog(systemClock, path) };
};
const linesOf = (path: string): { n: number }[] =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { data: { n: number } }).data);

test("[CM8] a line is one JSON object with time, level, message and data", () => {
  const { path, log } = open();
  log.info("Started", { port: 1 });
  log.warn("Line one\nline two");
  const lines = readFileSync(path, "utf8").split("\n");
  const at = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toEqual([
    { at, level: "info", message: "Started", data: { port: 1 } },
    { at, level: "warn", message: "Line one\nline two" },
  ]);
  expect(lines).toHaveLength(3);
});

test("[CM8] the files are private", () => {
  const { path, log } = open();
  log.info("x");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("[CM8] there are never more than five files of at most 1 MiB, and the newest lines are kept without a gap", () => {
  const { directory, path, log } = open();
  const body = "x".repeat(10_000);
  for (let n = 0; n < 1_000; n++) log.info("Line", { n, body });
  expect(readdirSync(directory).sort()).toEqual(["host.log", "host.log.1", "host.log.2", "host.log.3", "host.log.4"]);
  const files = ["host.log.4", "host.log.3", "host.log.2", "host.log.1", "host.log"].map((name) =>
    join(directory, name),
  );
  for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(MIB);
  for (const file of files.slice(0, 4)) expect(statSync(file).size).toBeGreaterThan(MIB - 11_000);
  const kept = files.flatMap(linesOf).map(({ n }) => n);
  expect(kept.at(-1)).toBe(999);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => 1_000 - kept.length + at));
  expect(linesOf(path).at(-1)?.n).toBe(999);
});

test("[CM8] 1 MiB is counted in bytes, also where letters take more than one", () => {
  const { directory, log } = open();
  for (let n = 0; n < 300; n++) log.info("Zeile", { n, body: "ß€".repeat(1_000) });
  for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(MIB);
});

test("[CM8] a log goes on where the last process left it, and shifts a full file at once", () => {
  const { directory, path } = open();
  writeFileSync(path, `${"x".repeat(MIB - 200)}\n`);
  const log = createFileLog(systemClock, path);
  log.info("Small", { n: 1 });
  expect(readdirSync(directory)).toEqual(["host.log"]);
  log.info("Too long for the rest", { n: 2, body: "x".repeat(200) });
  expect(readdirSync(directory).sort()).toEqual(["host.log", "host.log.1"]);
  expect(linesOf(path).map(({ n }) => n)).toEqual([2]);
});

test("[CM8] what cannot be written ends nothing", () => {
  const { log } = open();
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  expect(() => log.info("Circle", circle)).not.toThrow();
});

test("[CM8] when the next file cannot be made, no file of anybody else is closed in its place", () => {
  const { directory, log } = open();
  const body = "x".repeat(100_000);
  rmSync(directory, { recursive: true });
  for (let n = 0; n < 20; n++) log.info("Line", { n, body });
  const bystanders = Array.from({ length: 20 }, (_, n) => openSync(join(base, `bystander-${n}`), "w"));
  log.info("Once more", { body });
  for (const fd of bystanders) expect(writeSync(fd, "mine")).toBe(4);
  for (const fd of bystanders) closeSync(fd);
  for (let n = 0; n < 20; n++) expect(readFileSync(join(base, `bystander-${n}`), "utf8")).toBe("mine");
});

test("[CM8] in front of a terminal only warnings are shown", () => {
  const notes: string[] = [];
  const log = createNoteLog((text) => void notes.push(text));
  log.info("quiet");
  log.warn("loud");
  log.warn("loud", { port: 1 });
  expect(notes).toEqual(["loud", 'loud {"port":1}']);
});
