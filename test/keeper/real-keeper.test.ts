// Does the real keeper do what the one in memory does? Real processes, sockets and files, killed for real.
import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createKeepers, type KeptAgents } from "../../src/keeper/keepers.ts";
import { SOCKET_PATH_BYTES } from "../../src/keeper/place.ts";
import { commandPath } from "../../src/platform/agent-child.ts";
import type { AgentProcess } from "../../src/platform/agent-world.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { punchHole } from "../../src/platform/disk.ts";
import { readEnd, systemFiles } from "../../src/platform/files.ts";
import { takeGeneration } from "../../src/platform/generation.ts";
import { connectLines } from "../../src/platform/line-socket.ts";
import { kill, lifeOf, ownMark } from "../../src/platform/processes.ts";
import { sweepMarks } from "../../src/platform/strays.ts";
import { AGENT_TAG, sweepTagged, taggedProcesses } from "../../src/platform/tagged.ts";
import { tailFile } from "../../src/platform/tail.ts";
import { MAIN } from "../agents/real-agent.ts";
import { createTempDir, type TempDir } from "../support/temp-dir.ts";

const ENV = { PATH: process.env["PATH"] ?? "" };

interface RealHost {
  readonly keepers: KeptAgents;
  readonly short: string;
  readonly tag: string;
  said: string;
  fenced: number;
  start(script: string): AgentProcess;
}

function openHost(directory: TempDir, at = directory.path): RealHost {
  const short = directory.at("short");
  const tag = crypto.randomUUID();
  const host: RealHost = {
    short,
    tag,
    said: "",
    fenced: 0,
    start(script) {
      const command = {
        agent: "demo",
        run: crypto.randomUUID(),
        command: "sh",
        args: ["-c", script],
        env: ENV,
        cwd: "/",
      };
      const started = host.keepers.spawn(command, {
        output(bytes) {
          host.said += Buffer.from(bytes).toString();
        },
      });
      if (started.kind !== "started") throw new Error("There is no shell");
      return started.process;
    },
    keepers: createKeepers({
      clock: systemClock,
      files: systemFiles,
      log: { info() {}, warn() {} },
      directory: at,
      generation: takeGeneration(systemFiles, systemClock, at).number,
      connect: connectLines,
      startKeeper(place) {
        const keeper = Bun.spawn([process.execPath, MAIN, "keeper", place], {
          detached: true,
          cwd: "/",
          stdio: ["ignore", "ignore", "ignore"],
        });
        keeper.unref();
        return { hasEnded: () => keeper.exitCode !== null || keeper.signalCode !== null };
      },
      tail: (path, from, tell) => tailFile(systemClock, path, from, tell),
      tailText: readEnd,
      lifeOf,
      sweep: (tag, strays) => sweepTagged(tag) + sweepMarks(strays),
      kill: (pid) => void kill(pid, "SIGKILL"),
      punchHole,
      self: ownMark(),
      here: undefined,
      newTag: () => tag,
      find: commandPath,
      lingerMs: () => 60_000,
      shortDirectory() {
        systemFiles.directory(short);
        return short;
      },
    }),
  };
  host.keepers.onFenced(() => void host.fenced++);
  return host;
}

async function until(holds: () => boolean, limitMs = 15_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${holds}`);
    await Bun.sleep(3);
  }
}

async function finish(agent: AgentProcess): Promise<void> {
  agent.closeInput();
  await agent.exited;
  agent.kept?.forget();
}

const ECHO = 'while read a; do echo "got $a"; done; echo over';

test("[KP10] a place with too long a path for a socket has it in the short directory, works, and leaves nothing there", async () => {
  using directory = createTempDir();
  const long = directory.at("d".repeat(60), "e".repeat(60));
  systemFiles.directory(directory.at("d".repeat(60)));
  systemFiles.directory(long);
  const host = openHost(directory, long);
  const agent = host.start(ECHO);
  agent.write("hello");
  await until(() => host.said === "got hello\n");
  const [socket] = readdirSync(host.short);
  expect(Buffer.byteLength(join(host.short, String(socket)))).toBeLessThanOrEqual(SOCKET_PATH_BYTES);
  expect(statSync(join(host.short, String(socket))).isSocket()).toBe(true);
  await finish(agent);
  expect(host.said).toEndWith("over\n");
  await until(() => readdirSync(host.short).length === 0);
});

test("[KP7] [KP10] the same when its keeper was killed: no socket is left in the short directory", async () => {
  using directory = createTempDir();
  const long = directory.at("d".repeat(60), "e".repeat(60));
  systemFiles.directory(directory.at("d".repeat(60)));
  systemFiles.directory(long);
  const host = openHost(directory, long);
  const agent = host.start("exec sleep 600");
  await until(() => (agent.kept?.keeperPid ?? 0) > 0);
  kill(agent.pid, "SIGSTOP");
  kill(agent.kept?.keeperPid ?? 0, "SIGKILL");
  kill(-agent.pid, "SIGKILL");
  await agent.exited;
  agent.kept?.forget();
  await until(() => readdirSync(host.short).length === 0, 4_000);
});

test("[KP10] everything of a keeper is private: directories 0700, files 0600", async () => {
  using directory = createTempDir();
  const host = openHost(directory);
  const agent = host.start(`echo complaint >&2; ${ECHO}`);
  agent.write("hello");
  await until(() => host.said !== "");
  agent.kept?.checkpoint("{}");
  const modes = readdirSync(directory.path, { recursive: true, withFileTypes: true }).map((entry) => {
    const stat = statSync(join(entry.parentPath, entry.name));
    // A socket has the umask's mode; its directory keeps others out.
    const mode = entry.isSocket() ? "socket" : (stat.mode & 0o777).toString(8);
    return `${entry.isDirectory() ? "directory" : entry.name} ${mode}`;
  });
  expect(modes.toSorted()).toEqual(
    [
      "directory 700",
      "directory 700",
      "checkpoint.json 600",
      "err 600",
      "generation 600",
      "in 600",
      "in.log 600",
      "log 600",
      "out 600",
      "s socket",
      "spec.json 600",
      "state.json 600",
      "turn-1 600",
    ].toSorted(),
  );
  await finish(agent);
  await until(() => readdirSync(directory.at("keepers")).length === 0);
});

test("[KP6] its keeper is killed five times while lines go in and out: each is there once, and in order", async () => {
  using directory = createTempDir();
  const host = openHost(directory);
  const agent = host.start(ECHO);
  await until(() => (agent.kept?.keeperPid ?? 0) > 0);
  const { pid } = agent;
  for (let round = 0; round < 5; round++) {
    agent.write(`a${round}`, `a${round}`);
    await until(() => host.said.includes(`got a${round}\n`));
    await until(() => agent.kept?.inputEnd !== undefined);
    const keeper = agent.kept?.keeperPid ?? 0;
    kill(keeper, "SIGKILL");
    agent.write(`b${round}`, `b${round}`);
    await until(() => agent.kept?.keeperPid !== keeper && host.said.includes(`got b${round}\n`));
  }
  expect(agent.pid).toBe(pid);
  await finish(agent);
  const rounds = Array.from({ length: 5 }, (_, round) => `got a${round}\ngot b${round}\n`);
  expect(host.said.replaceAll(/got \n/g, "")).toBe(`${rounds.join("")}over\n`);
  await until(() => taggedProcesses(AGENT_TAG, host.tag).length === 0);
});

test("[KP2] [KP8] the next host goes on behind an offset; the first one is fenced and hears nothing more", async () => {
  using directory = createTempDir();
  const first = openHost(directory);
  const agent = first.start(ECHO);
  agent.write("one", "one");
  await until(() => first.said === "got one\n");
  const next = openHost(directory);
  const [left] = next.keepers.left(new AbortController().signal);
  await left?.taken;
  const adopted = left?.adopt(8, {
    output(bytes) {
      next.said += Buffer.from(bytes).toString();
    },
  }) as AgentProcess;
  adopted.write("one", "one");
  adopted.write("two", "two");
  agent.write("late", "late");
  await until(() => next.said === "got two\n" && first.fenced === 1);
  expect([first.said, adopted.pid]).toEqual(["got one\n", agent.pid]);
  await finish(adopted);
  expect(next.said).toBe("got two\nover\n");
  await until(
    () => taggedProcesses(AGENT_TAG, first.tag).length === 0 && readdirSync(directory.at("keepers")).length === 0,
  );
});

test("[KP3] a line of 4 MB goes through the keeper once, also when it is asked for again by the next host", async () => {
  using directory = createTempDir();
  const first = openHost(directory);
  const agent = first.start(
    `exec "${process.execPath}" -e 'for await (const line of console) console.log(line.length)'`,
  );
  await until(() => (agent.kept?.keeperPid ?? 0) > 0);
  const line = "x".repeat(4 * 1024 * 1024);
  agent.write(line, "big");
  const next = openHost(directory);
  const [left] = next.keepers.left(new AbortController().signal);
  await left?.taken;
  const adopted = left?.adopt(0, {
    output(bytes) {
      next.said += Buffer.from(bytes).toString();
    },
  }) as AgentProcess;
  adopted.write(line, "big");
  adopted.write("12345", "small");
  await until(() => next.said.endsWith("\n5\n"), 30_000);
  expect(next.said).toBe(`${line.length}\n5\n`);
  await finish(adopted);
});
