// Are an agent's daemons found that left its group and cleared their environment? By descent, and nobody else's.
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HeldMarks, ProcessMark } from "../../src/platform/agent-world.ts";
import { isAlive, isRunning, kill, markOf } from "../../src/platform/processes.ts";
import { createStrays, sweepMarks } from "../../src/platform/strays.ts";
import { AGENT_TAG } from "../../src/platform/tagged.ts";
import { until } from "../fixtures/until.ts";
import { createTempDir } from "../support/temp-dir.ts";

const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) kill(pid, "SIGKILL");
});

/** A shell in a group of its own with the tag; what it starts tells its number there. */
function startShell(tag: string, script: string, file: string): HeldMarks {
  const shell = Bun.spawn(["sh", "-c", script], {
    env: { PATH: process.env["PATH"], [AGENT_TAG]: tag, FILE: file },
    detached: true,
    stdio: ["ignore", "ignore", "ignore"],
  });
  started.push(shell.pid);
  return { agent: markOf(shell.pid), holder: { pid: 0, startTime: "" } };
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

async function toldIn(file: string): Promise<number> {
  await until(() => textOf(file).endsWith("\n"));
  const pid = Number(textOf(file));
  started.push(pid);
  return pid;
}

const CLEARED = 'setsid env -i sh -c "echo \\$\\$ >$FILE.new; mv $FILE.new $FILE; exec sleep 600" &';

test("[KP15] a child that cleared its environment and has a session of its own is a stray; a tagged one and one of the group are not", async () => {
  using directory = createTempDir();
  const [tag, file] = [crypto.randomUUID(), directory.at("pid")];
  const marks = startShell(tag, `${CLEARED} setsid sleep 601 & env -i sleep 602 & wait`, file);
  const daemon = await toldIn(file);
  const strays = createStrays(tag, marks, { strays: [], subreaper: undefined });
  let seen: readonly ProcessMark[] = [];
  // For a moment those that change their environment are neither one nor the other.
  await until(() => {
    seen = strays.look();
    return seen.length === 1 && seen[0]?.pid === daemon;
  });
  expect(seen).toEqual([markOf(daemon)]);
  // Its parent dies, and it becomes another's: what was seen is known.
  kill(marks.agent.pid, "SIGKILL");
  await until(() => !isRunning(marks.agent.pid));
  expect(strays.look()).toEqual(seen);
  expect(isAlive(markOf(daemon))).toBe(true);
  strays.sweep();
  await until(() => !isRunning(daemon));
  expect([strays.look(), strays.sweep()]).toEqual([[], 0]);
  kill(-marks.agent.pid, "SIGKILL");
});

test("[KP15] [KP13] what was seen is ended by its mark, with its children; a number that came back is left alone", async () => {
  using directory = createTempDir();
  const [tag, file] = [crypto.randomUUID(), directory.at("pid")];
  const { agent } = startShell(tag, CLEARED.replace("exec sleep 600", "sleep 600; true"), file);
  const daemon = await toldIn(file);
  const child = () => Number(readFileSync(`/proc/${daemon}/task/${daemon}/children`, "utf8").trim());
  await until(() => textOf(`/proc/${child()}/comm`) === "sleep\n");
  const sleeper = child();
  started.push(sleeper);
  expect(sweepMarks([{ ...markOf(daemon), startTime: "1" }])).toBe(0);
  expect([daemon, sleeper, agent.pid].map(isRunning).slice(0, 2)).toEqual([true, true]);
  expect(sweepMarks([markOf(daemon)])).toBe(2);
  await until(() => !isRunning(daemon) && !isRunning(sleeper));
});

/** A subreaper whose child leaves two orphans: a daemon that lives, and one that ends and must be collected. */
const SUBREAPER = `
  import { becomeSubreaper } from "${join(import.meta.dir, "..", "..", "src/platform/subreaper.ts")}";
  import { createStrays } from "${join(import.meta.dir, "..", "..", "src/platform/strays.ts")}";
  import { markOf, statOf } from "${join(import.meta.dir, "..", "..", "src/platform/processes.ts")}";
  import { descendantsOf } from "${join(import.meta.dir, "..", "..", "src/platform/descendants.ts")}";
  const subreaper = becomeSubreaper();
  const shell = Bun.spawn(["sh", "-c", "setsid env -i sleep 600 & setsid env -i true & exit 0"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const marks = { agent: markOf(shell.pid), holder: { pid: 0, startTime: "" } };
  await shell.exited;
  const strays = createStrays("a tag", marks, { strays: [], subreaper });
  const all = () => descendantsOf([process.pid], () => false);
  while (strays.look().length !== 1 || all().length !== 1) await Bun.sleep(5);
  const [orphan] = strays.look();
  const parent = Number(statOf(orphan.pid)[1]);
  const killed = strays.sweep();
  while (all().length > 0) { strays.look(); await Bun.sleep(5); }
  console.log(JSON.stringify({ isOurs: parent === process.pid, killed, left: strays.sweep() }));
`;

test("[KP15] orphans become the subreaper's: they are found without a tag, ended, and collected", async () => {
  using directory = createTempDir();
  writeFileSync(directory.at("subreaper.ts"), SUBREAPER);
  const ran = Bun.spawn([process.execPath, directory.at("subreaper.ts")], { stdout: "pipe", stderr: "ignore" });
  expect(JSON.parse(await new Response(ran.stdout).text())).toEqual({ isOurs: true, killed: 1, left: 0 });
});
