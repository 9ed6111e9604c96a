// Does an agent outlive whoever holds it? Real processes: its output straight to files, its input a FIFO that stays open.
import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HeldAgent, HeldMarks } from "../../src/platform/agent-world.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { adoptHeld, startHeld } from "../../src/platform/held-agent.ts";
import { isAlive, kill, lifeOf, markOf, ownMark, startTimeOf } from "../../src/platform/processes.ts";
import { AGENT_TAG, taggedProcesses } from "../../src/platform/tagged.ts";
import { createTempDir, type TempDir } from "../support/temp-dir.ts";

const PATH = process.env["PATH"] ?? "";
const tags: string[] = [];

afterEach(() => {
  for (const tag of tags.splice(0)) {
    for (const pid of taggedProcesses(AGENT_TAG, tag)) kill(pid, "SIGKILL");
  }
});

function place(directory: TempDir): { path: string; tag: string } {
  chmodSync(directory.path, 0o700);
  for (const name of ["out", "err"]) writeFileSync(directory.at(name), "", { mode: 0o600 });
  const tag = `test-${crypto.randomUUID()}`;
  tags.push(tag);
  return { path: directory.path, tag };
}

function start(directory: TempDir, script: string): { agent: HeldAgent; tag: string; out(): string; err(): string } {
  const { path, tag } = place(directory);
  const command = { command: "/bin/sh", args: ["-c", script], env: { PATH }, cwd: path, tag };
  const agent = startHeld(systemClock, path, command);
  const read = (name: string) => () => readFileSync(join(path, name), "utf8");
  return { agent, tag, out: read("out"), err: read("err") };
}

async function until(holds: () => boolean, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${holds}`);
    await Bun.sleep(2);
  }
}

describe("an agent that is held", () => {
  test("[KP1] has its output and its complaints in files, each line once, and its exit code told", async () => {
    using directory = createTempDir();
    const { agent, out, err } = start(directory, "read a; echo got $a; echo oops >&2; exit 3");
    await agent.write("hello\n");
    expect(await agent.exited).toEqual({ code: 3, signal: null });
    expect([out(), err()]).toEqual(["got hello\n", "oops\n"]);
    await until(() => !isAlive(agent.holder));
  });

  test("[KP1] leads a group and a session of its own, with its tag, and so does who holds its input open", async () => {
    using directory = createTempDir();
    const { agent, tag } = start(directory, "read a");
    const { pid } = agent.agent;
    const fields = (of: number) => readFileSync(`/proc/${of}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    expect([fields(pid)[2], fields(pid)[3]]).toEqual([String(pid), String(pid)]);
    // Until they have become what they are to be. Whoever holds it starts a sleeper now and then, which sheds the tag.
    await until(() => [pid, agent.holder.pid].every((each) => taggedProcesses(AGENT_TAG, tag).includes(each)));
    agent.closeInput();
    await agent.exited;
  });

  test("[KP1] who held its input goes with all that it waits with", async () => {
    using directory = createTempDir();
    const { agent } = start(directory, "cat");
    const sleepers = () => {
      const { stdout } = Bun.spawnSync(["ps", "-e", "-o", "pgid=,stat=,comm="]);
      const rows = stdout.toString().split("\n");
      return rows.filter((row) => new RegExp(`^ *${agent.holder.pid} +[^Z ]+ +sleep`).test(row)).length;
    };
    await until(() => sleepers() === 1);
    agent.closeInput();
    await agent.exited;
    await until(() => sleepers() === 0, 2_000);
  });

  test("[KP10] everything of it is ours alone", async () => {
    using directory = createTempDir();
    const { agent } = start(directory, "cat");
    const modes = Object.fromEntries(
      ["in", "out", "err"].map((name) => [name, (statSync(directory.at(name)).mode & 0o777).toString(8)]),
    );
    expect(modes).toEqual({ in: "600", out: "600", err: "600" });
    expect(statSync(directory.at("in")).isFIFO()).toBe(true);
    agent.closeInput();
    await agent.exited;
  });

  test("[KP6] hears the end of its input when it is told to, and not before", async () => {
    using directory = createTempDir();
    const { agent, out } = start(directory, "cat; echo over");
    await agent.write("line\n");
    await until(() => out() === "line\n");
    await Bun.sleep(200);
    expect(out()).toBe("line\n");
    agent.closeInput();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    expect(out()).toBe("line\nover\n");
  });

  test("[KP3] gets a line of 4 MB whole", async () => {
    using directory = createTempDir();
    const { agent, out } = start(directory, "head -c 4194305 | md5sum");
    const line = `${"ab".repeat(2 * 1024 * 1024)}\n`;
    await agent.write(line);
    await agent.exited;
    expect(out().split(" ")[0]).toBe(new Bun.CryptoHasher("md5").update(line).digest("hex"));
  });

  test("[KP1] that does not read blocks nobody: its keeper still hears, signals, and sees the end", async () => {
    using directory = createTempDir();
    const { agent } = start(directory, "exec sleep 600");
    let written = false;
    const write = agent.write("x".repeat(1024 * 1024)).then(() => {
      written = true;
    });
    await Bun.sleep(50);
    expect(written).toBe(false);
    agent.signalGroup("SIGTERM");
    expect(await agent.exited).toEqual({ code: null, signal: "SIGTERM" });
    await write;
  });

  test("[KP1] that cannot be started leaves nobody behind", async () => {
    using directory = createTempDir();
    const { path, tag } = place(directory);
    const command = { command: "/no/such/agent", args: [], env: { PATH }, cwd: path, tag };
    expect(() => startHeld(systemClock, path, command)).toThrow();
    await until(() => taggedProcesses(AGENT_TAG, tag).length === 0);
  });

  test("[KP9] its complaints are cut at 1 MB, their end is kept, and it goes on writing behind it", async () => {
    using directory = createTempDir();
    const { agent, err } = start(directory, "read a; echo after >&2; read b");
    appendFileSync(directory.at("err"), `${"x".repeat(1024 * 1024 - 1)}\n`);
    agent.cutErrors();
    expect(statSync(directory.at("err")).size).toBe(1024 * 1024);
    appendFileSync(directory.at("err"), "last words\n");
    agent.cutErrors();
    expect(err().length).toBe(64 * 1024);
    expect(err()).toEndWith("x\nlast words\n");
    await agent.write("go\n");
    await until(() => err().endsWith("last words\nafter\n"));
    agent.closeInput();
    await agent.exited;
  });
});

/** Starts an agent, tells its marks, and waits to be killed. */
const STARTER = `
  import { startHeld } from "${join(import.meta.dir, "..", "..", "src/platform/held-agent.ts")}";
  import { systemClock } from "${join(import.meta.dir, "..", "..", "src/platform/clock.ts")}";
  const [path, tag, script] = process.argv.slice(-3);
  const held = startHeld(systemClock, path, {
    command: "/bin/sh", args: ["-c", script], env: { PATH: process.env.PATH }, cwd: path, tag,
  });
  await held.write("from the first\\n");
  console.log(JSON.stringify({ agent: held.agent, holder: held.holder }));
  await Bun.sleep(600_000);
`;

describe("an agent whose keeper was killed", () => {
  test("[KP6] notices nothing, takes input from the next one, and its end is seen though not how", async () => {
    using directory = createTempDir();
    const { path, tag } = place(directory);
    writeFileSync(directory.at("starter.ts"), STARTER);
    const script = 'while read a; do echo "got $a"; done; echo over';
    const starter = Bun.spawn([process.execPath, directory.at("starter.ts"), path, tag, script], { stdout: "pipe" });
    const reader = starter.stdout.getReader();
    const { value } = await reader.read();
    const marks = JSON.parse(new TextDecoder().decode(value)) as HeldMarks;
    starter.kill("SIGKILL");
    await starter.exited;
    const out = () => readFileSync(directory.at("out"), "utf8");
    await Bun.sleep(100);
    expect([isAlive(marks.agent), isAlive(marks.holder), out()]).toEqual([true, true, "got from the first\n"]);
    const agent = adoptHeld(systemClock, path, tag, marks);
    await agent.write("from the second\n");
    await until(() => out().endsWith("got from the second\n"));
    agent.closeInput();
    expect(await agent.exited).toEqual({ code: null, signal: null });
    expect(out()).toBe("got from the first\ngot from the second\nover\n");
    expect([isAlive(marks.agent), isAlive(marks.holder)]).toEqual([false, false]);
  });
});

/** Holds an agent that another started, has no descriptor left for a while, and tells whether it thinks that it is gone. */
const BLIND = `
  import { openSync, closeSync } from "node:fs";
  import { adoptHeld } from "${join(import.meta.dir, "..", "..", "src/platform/held-agent.ts")}";
  import { systemClock } from "${join(import.meta.dir, "..", "..", "src/platform/clock.ts")}";
  const [path, tag, marks] = process.argv.slice(-3);
  const held = adoptHeld(systemClock, path, tag, JSON.parse(marks));
  let gone = false;
  void held.exited.then(() => { gone = true; });
  const taken = [];
  try {
    for (;;) taken.push(openSync("/dev/null"));
  } catch (thrown) {
    if (thrown.code !== "EMFILE") throw thrown;
  }
  await Bun.sleep(300);
  for (const fd of taken) closeSync(fd);
  console.log(gone ? "gone" : "held");
  process.exit();
`;

test("[KP13] an agent that cannot be looked at, because no descriptor is left, is not dead", async () => {
  using directory = createTempDir();
  const { agent, tag } = start(directory, "exec cat");
  writeFileSync(directory.at("blind.ts"), BLIND);
  const marks = JSON.stringify({ agent: agent.agent, holder: agent.holder });
  const words = [process.execPath, directory.at("blind.ts"), directory.path, tag, marks];
  const blind = Bun.spawn(["sh", "-c", 'ulimit -n 100; exec "$@"', "sh", ...words], { stdout: "pipe" });
  expect(await new Response(blind.stdout).text()).toBe("held\n");
  expect(isAlive(agent.agent)).toBe(true);
  agent.closeInput();
  await agent.exited;
});

describe("a process's mark", () => {
  test("[KP13] without a start time proves no death while a process of that number runs", async () => {
    const child = Bun.spawn(["sleep", "600"]);
    expect(lifeOf({ pid: child.pid, startTime: "" })).toBe("unknown");
    expect(lifeOf(markOf(child.pid))).toBe("alive");
    child.kill("SIGKILL");
    await child.exited;
    expect(lifeOf({ pid: child.pid, startTime: "" })).toBe("dead");
  });

  test("[KP7] is its pid and its start time: a pid that came back is somebody else", async () => {
    const child = Bun.spawn(["sleep", "600"]);
    const mark = markOf(child.pid);
    expect([isAlive(mark), isAlive({ ...mark, startTime: "1" }), isAlive(ownMark())]).toEqual([true, false, true]);
    child.kill("SIGKILL");
    await child.exited;
    expect([isAlive(mark), isAlive({ pid: 0, startTime: "" }), isAlive({ pid: -1, startTime: "" })]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("[KP7] is read rightly from a process whose name has brackets and spaces, and a zombie is not alive", async () => {
    using directory = createTempDir();
    const odd = directory.at("a) b (c) 1");
    writeFileSync(odd, readFileSync(Bun.which("sleep") ?? "/bin/sleep"), { mode: 0o700 });
    const child = Bun.spawn([odd, "600"]);
    expect(startTimeOf(child.pid)).toMatch(/^\d+$/);
    expect(Math.abs(Number(startTimeOf(child.pid)) - Number(startTimeOf(process.pid)))).toBeLessThan(100 * 3_600);
    child.kill("SIGKILL");
    await child.exited;
    // A parent that never waits.
    const parent = Bun.spawn(["sh", "-c", "sleep 0 & echo $!; exec sleep 600"], { stdout: "pipe" });
    const { value } = await parent.stdout.getReader().read();
    const mark = markOf(Number(new TextDecoder().decode(value)));
    await until(() => !isAlive(mark));
    expect(existsSync(`/proc/${mark.pid}`)).toBe(true);
    parent.kill("SIGKILL");
    await parent.exited;
  });
});
