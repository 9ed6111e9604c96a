// Is a browser of our own found, launched again, and gone in the end?
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBrowsers } from "../../src/platform/browser-process.ts";
import { findBrowser } from "../../src/platform/find-browser.ts";
import { isRunning } from "../../src/platform/processes.ts";
import { until } from "../e2e/until.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { forever, scriptedBrain } from "./support/brain.ts";
import { runTask } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";
import "./support/two-at-once.ts";

const site = startSite();
afterAll(() => site.end());
const TO = 90_000;

/** Every process that has this folder in its arguments. */
const usersOf = (folder: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false;
      }
    });

const browserPid = (directory: string): number =>
  readdirSync(join(directory, "browsers"))
    .map((name) => JSON.parse(readFileSync(join(directory, "browsers", name, "owner.json"), "utf8")).browser)
    .find((pid) => pid !== undefined);

test(
  "[BR1] [BR8] with no endpoint a local Chromium is launched, again when it dies, and nothing of it is left",
  async () => {
    using folder = createTempDir();
    const pids = new Set<number>();
    const brain = scriptedBrain({
      url: `${site.url}/`,
      actions: [],
      async onNext(count) {
        const pid = browserPid(folder.path);
        pids.add(pid);
        expect(statSync(join(folder.path, "browsers")).mode & 0o777).toBe(0o700);
        if (count > 2) return;
        process.kill(pid, "SIGKILL");
        await forever();
      },
    });
    const ran = await runTask({ brain, directory: folder.path });
    expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
    expect(ran.of("browser:reconnected").map(({ endpointIndex, total }) => [endpointIndex, total])).toEqual([
      [1, 4],
      [2, 4],
    ]);
    expect(pids.size).toBe(3);
    expect(readdirSync(join(folder.path, "browsers"))).toEqual([]);
    await until("the end of all that used it", () => usersOf(folder.path).length === 0);
    expect([...pids].filter(isRunning)).toEqual([]);
  },
  TO,
);

test(
  "[BR1] it is launched again three times at most: then the task ends with exit code 8, and nothing is left either",
  async () => {
    using folder = createTempDir();
    const brain = scriptedBrain({
      actions: [],
      async onNext() {
        process.kill(browserPid(folder.path), "SIGKILL");
        await forever();
      },
    });
    const ran = await runTask({ brain, directory: folder.path });
    expect(ran.code).toBe(8);
    expect(ran.of("cdp:endpoint_connected")).toHaveLength(4);
    expect(readdirSync(join(folder.path, "browsers"))).toEqual([]);
    await until("the end of all that used it", () => usersOf(folder.path).length === 0);
  },
  TO,
);

test(
  "[BR8] [BR5] Ctrl-C and a timeout end a browser of ours at once, whatever it was doing",
  async () => {
    for (const how of ["abort", "timeout"] as const) {
      using folder = createTempDir();
      const interrupt = new AbortController();
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [],
        async onNext() {
          if (how === "abort") interrupt.abort("SIGINT");
          await forever();
        },
      });
      const ran = await runTask({
        brain,
        directory: folder.path,
        signal: interrupt.signal,
        ...(how === "timeout" ? { timeoutMs: 6_000 } : {}),
      });
      const reason = how === "abort" ? "interrupted" : "timeout";
      expect(ran.of("task:completed")).toMatchObject([{ success: false, reason }]);
      if (how === "timeout") expect(ran.code).toBe(6);
      else expect(ran.thrown).toBe("SIGINT");
      expect(brain.cancelled).toEqual(["next"]);
      expect(readdirSync(join(folder.path, "browsers"))).toEqual([]);
      await until("the end of all that used it", () => usersOf(folder.path).length === 0);
    }
  },
  TO,
);

test(
  "[BR8] what a killed process left is ended by the next start; what a living one uses is not",
  async () => {
    using folder = createTempDir();
    const directory = folder.at("browsers");
    const browsers = createBrowsers(directory, process.env);
    const command = browsers.find() ?? "";
    const mine = browsers.launch(command, []);
    const left = browsers.launch(command, []);
    await Promise.all([mine.listening, left.listening]);
    // As if its owner had been killed, and its number given to another.
    const folderOf = (pid: number) =>
      readdirSync(directory)
        .map((name) => join(directory, name))
        .find((path) => JSON.parse(readFileSync(join(path, "owner.json"), "utf8")).browser === pid) ?? "";
    const leftFolder = folderOf(left.pid);
    const owner = JSON.parse(readFileSync(join(leftFolder, "owner.json"), "utf8"));
    writeFileSync(join(leftFolder, "owner.json"), JSON.stringify({ ...owner, startTime: "1" }));
    // Killed at the wrong moment it leaves such files in its place for temporary ones.
    writeFileSync(join(owner.temporary, ".org.chromium.Chromium.J8zOXB"), "");
    mkdirSync(join(directory, "just-being-made"));
    expect(await createBrowsers(directory, process.env).reap()).toBe(1);
    expect({ left: isRunning(left.pid), mine: isRunning(mine.pid) }).toEqual({ left: false, mine: true });
    expect([leftFolder, owner.temporary].filter(existsSync)).toEqual([]);
    expect(existsSync(join(directory, "just-being-made"))).toBe(true);
    await Promise.all([mine.end(), left.end()]);
    await until("the end of all that used it", () => usersOf(directory).length === 0);
  },
  TO,
);

test("[BR1] the browser is found by name, on PATH and by the environment; where there is none that is said", async () => {
  expect(findBrowser(process.env)).toBeDefined();
  expect(findBrowser({ HOLDFAST_CHROMIUM: "/bin/sh", PATH: "" })).toBe("/bin/sh");
  expect(findBrowser({ HOLDFAST_CHROMIUM: "/no/such/browser", PATH: process.env["PATH"] })).toBeUndefined();
});

test("[BR1] a browser that ends at once is told with what it said, and used up like an endpoint", async () => {
  using folder = createTempDir();
  const before = process.env["HOLDFAST_CHROMIUM"];
  process.env["HOLDFAST_CHROMIUM"] = "/bin/false";
  try {
    const ran = await runTask({ brain: scriptedBrain({ actions: [] }), directory: folder.path });
    expect(ran.code).toBe(8);
    expect(ran.of("cdp:endpoint_cycle")).toHaveLength(4);
    expect(ran.of("cdp:endpoint_cycle")[0]?.["error"]).toContain('"/bin/false" ended at once');
  } finally {
    if (before === undefined) delete process.env["HOLDFAST_CHROMIUM"];
    else process.env["HOLDFAST_CHROMIUM"] = before;
  }
});
