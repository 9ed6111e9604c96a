// Does the benchmark measure everything it promises, and leave nothing behind? Structure only: times are for the run itself.
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "../support/binary.ts";
import { percentile } from "./support/statistics.ts";
import { atLeastTimes, atMostMs, atMostTimes, table, told } from "./support/table.ts";

const RUN = join(import.meta.dir, "run.ts");
const LIMIT_MS = 60_000;
const LONG_LIMIT_MS = 90_000;
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function bench(...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-test-"));
  folders.push(folder);
  const run = Bun.spawn([process.execPath, RUN, ...words], {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, TMPDIR: folder, HOLDFAST_BINARY: BINARY },
  });
  return { run, folder, printed: new Response(run.stdout).text() };
}

/** Whoever was started with this folder in its environment and still runs; Linux tells. */
function leftovers(folder: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}

test(
  "[CM7] a run tells goal, measured value and verdict of every number, and leaves nothing behind",
  async () => {
    const { run, folder, printed } = bench("bridge", "--quick");
    await new Response(run.stderr).text();
    const lines = (await printed).split("\n");
    expect(await run.exited).toBe(0);
    const judged = [
      "Start of --version, to empty program",
      "Start of --help, to empty program",
      "Requests/s, 64 at once, to bare relay",
      "One by one, p50, to bare relay",
      "kill -9 to /health, 1 client, p50",
      "kill -9 to /health, 1 client, p99",
      "kill -9 to /health, 2 clients, p50",
      "SIGTERM, /health not 200, 1 client, p50",
      "SIGTERM, /health not 200, 2 clients, p50",
    ];
    const lineOf = (what: string) => lines.find((line) => line.startsWith(what)) ?? `no line "${what}"`;
    for (const what of judged) expect(lineOf(what)).toMatch(/ {2}[≤≥] [\d.]+ (×|ms) +[\d.]+ (×|ms) +(ok|missed)( |$)/);
    expect(lineOf("Host's memory, 5 plugins")).toMatch(/MiB PSS|unknown/);
    expect(readdirSync(folder)).toEqual([]);
    expect(leftovers(folder)).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "[CM7] a run of agents tells what has a goal with it, the rest beside a bare pipe, and leaves nothing behind",
  async () => {
    const { run, folder, printed } = bench("agents", "--quick");
    await new Response(run.stderr).text();
    const lines = (await printed).split("\n");
    expect(await run.exited).toBe(0);
    const lineOf = (what: string) => lines.find((line) => line.startsWith(what)) ?? `no line "${what}"`;
    for (const what of [
      "Warm prompt to its exit, to empty program",
      "kill -9 of the agent in mid-turn, its client told",
      "sessions --all with 40 closed ones, to 10",
    ])
      expect(lineOf(what)).toMatch(/ {2}≤ \d+ (×|ms) +[\d.]+ (×|ms) +(ok|missed) {2}/);
    expect(lineOf("3 prompts at once, until all have exited")).toMatch(/ {2}- +[\d.]+ ms/);
    expect(lineOf("The same, to a bare pipe")).toMatch(/[\d.]+ × .*bare [\d,]+\/s/);
    expect(lineOf("Memory per idle session")).toMatch(/KiB|unknown/);
    for (const what of ["Host's memory, 40 prompts, to 20", "Host's memory, 40 prompts of one session, to 20"])
      expect(lineOf(what)).toMatch(/ {2}≤ 1.25 × +[\d.]+ × +(ok|missed) {2}|unknown/);
    expect(readdirSync(folder)).toEqual([]);
    expect(leftovers(folder)).toEqual([]);
  },
  LONG_LIMIT_MS,
);

test(
  "[CM7] a run of keepers tells the gaps with their goals, the rest beside a bare pipe, and leaves nothing behind",
  async () => {
    const { run, folder, printed } = bench("keeper", "--quick");
    await new Response(run.stderr).text();
    const lines = (await printed).split("\n");
    expect(await run.exited).toBe(0);
    const lineOf = (what: string) => lines.find((line) => line.startsWith(what)) ?? `no line "${what}"`;
    const judged = [
      "kill -9 of the host to the next line, standby, p50",
      "kill -9 of the host to the next line, cold, p50",
      "Adopting a long history from its checkpoint",
    ];
    for (const what of judged) expect(lineOf(what)).toMatch(/ {2}≤ \d+ ms +[\d.]+ ms +(ok|missed) {2}/);
    const told = [
      "kill -9 of the host to the next line, standby, p99",
      "kill -9 of the host to the next line, cold, p99",
      "kill -9 to the next line, cold, with that history",
    ];
    for (const what of told) expect(lineOf(what)).toMatch(/ {2}- +[\d.]+ ms/);
    expect(lineOf("Lines/s through a keeper's file, to bare pipe")).toMatch(
      /[\d.]+ × .*bare [\d,]+\/s, ours [\d,]+\/s/,
    );
    expect(lineOf("Memory of a keeper, private")).toMatch(/MiB PSS|unknown/);
    expect(lineOf("kill -9 to the next line, 5 open sessions, to one")).toMatch(/ {2}≤ 2 × +[\d.]+ × +(ok|missed) {2}/);
    expect(readdirSync(folder)).toEqual([]);
    expect(leftovers(folder)).toEqual([]);
  },
  LONG_LIMIT_MS,
);

test(
  "Ctrl-C in the middle of a run of keepers ends everything that was started",
  async () => {
    const { run, folder } = bench("keeper", "--quick");
    let said = "";
    for await (const bytes of run.stderr) {
      said += new TextDecoder().decode(bytes);
      if (said.includes("gaps")) setTimeout(() => run.kill("SIGINT"), 500);
    }
    expect(await run.exited).toBe(130);
    const deadline = performance.now() + LIMIT_MS;
    // A keeper looks once a second whether its place is still there.
    while (leftovers(folder).length > 0 && performance.now() < deadline) await Bun.sleep(50);
    expect([readdirSync(folder), leftovers(folder)]).toEqual([[], []]);
  },
  LONG_LIMIT_MS,
);

test(
  "Ctrl-C in the middle ends everything that was started",
  async () => {
    const { run, folder } = bench("bridge", "--quick");
    let said = "";
    for await (const bytes of run.stderr) {
      said += new TextDecoder().decode(bytes);
      if (said.includes("crashes")) run.kill("SIGINT");
    }
    expect(await run.exited).toBe(130);
    expect(said).not.toContain("memory");
    expect(readdirSync(folder)).toEqual([]);
    expect(leftovers(folder)).toEqual([]);
  },
  LIMIT_MS,
);

test("without a known name the benchmarks are listed", async () => {
  for (const words of [[], ["nothing"], ["bridge", "extra"]]) {
    const { run } = bench(...words);
    expect(await new Response(run.stderr).text()).toContain("bridge  Relaying");
    expect(await run.exited).toBe(2);
  }
});

test("a missed goal is said, and a number without a goal is only told", () => {
  const rows = [
    atMostMs("a", 30, 30, ""),
    atMostMs("b", 30, 30.1, ""),
    atLeastTimes("c", 0.8, 0.79, ""),
    atMostTimes("d", 2, 1.5, "note"),
    told("e", "5 MiB", ""),
  ];
  expect(rows.map(({ verdict }) => verdict)).toEqual(["ok", "missed", "missed", "ok", ""]);
  expect(table(rows)).toContain("c     ≥ 0.8 ×  0.79 ×    missed");
});

test("a percentile is a value that was measured", () => {
  const values = Array.from({ length: 50 }, (_, at) => 50 - at);
  expect(percentile(values, 0.5)).toBe(25);
  expect(percentile(values, 0.99)).toBe(50);
  expect(percentile([7], 0.01)).toBe(7);
});
