// How is an agent run as a child? In a group of its own, its stderr always read, its output told as it comes.

import type { AgentProcess, SpawnAgent } from "./agent-world.ts";
import { kill } from "./processes.ts";
import { AGENT_TAG, sweepTagged } from "./tagged.ts";

const STDERR_LINES = 200;
const STDERR_LINE_CHARACTERS = 2_000;
const BROKEN_MS = 500;

async function each(stream: ReadableStream<Uint8Array>, tell: (bytes: Uint8Array) => void): Promise<void> {
  try {
    for await (const bytes of stream) tell(bytes);
  } catch {
    // A pipe that breaks ends like one that closes.
  }
}

function createRing(): { add(bytes: Uint8Array): void; lines(): string[] } {
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = "";
  return {
    add(bytes) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = (parts.pop() ?? "").slice(-STDERR_LINE_CHARACTERS);
      lines = [...lines, ...parts.map((line) => line.slice(0, STDERR_LINE_CHARACTERS))].slice(-STDERR_LINES);
    },
    lines: () => (rest ? [...lines, rest].slice(-STDERR_LINES) : [...lines]),
  };
}

export const commandPath = (command: string, path: string): string | undefined =>
  Bun.which(command, { PATH: path }) ?? undefined;
export const findCommand = (command: string, path: string): boolean => commandPath(command, path) !== undefined;

export const spawnAgent: SpawnAgent = ({ command, args, env, cwd }, events) => {
  const found = Bun.which(command, { PATH: env["PATH"] ?? "" });
  if (!found) return { kind: "missing", command };
  const tag = crypto.randomUUID();
  const ring = createRing();
  const child = Bun.spawn([found, ...args], {
    cwd,
    env: { ...env, [AGENT_TAG]: tag },
    detached: true,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = each(child.stdout, events.output);
  const read = Promise.all([output, each(child.stderr, ring.add)]);
  const ended = child.exited.then(() => ({ code: child.exitCode, signal: child.signalCode as string | null }));
  let open = true;
  const signalGroup = (signal: NodeJS.Signals): void =>
    void (process.platform === "win32" ? kill(child.pid, signal) : kill(-child.pid, signal));
  /** A pipe broke: mostly its exit follows. One that stays is deaf or dumb, and whoever waits for it would wait for ever. */
  const broke = async (): Promise<void> => {
    await Promise.race([ended, Bun.sleep(BROKEN_MS)]);
    if (open && child.exitCode === null && child.signalCode === null) signalGroup("SIGKILL");
  };
  void output.then(broke);
  const agent: AgentProcess = {
    pid: child.pid,
    write(line) {
      if (!open) return;
      try {
        child.stdin.write(`${line}\n`);
        const flushed = child.stdin.flush();
        if (flushed instanceof Promise) flushed.catch(broke);
      } catch {
        void broke();
      }
    },
    closeInput() {
      open = false;
      try {
        void child.stdin.end();
      } catch {
        // Closed already.
      }
    },
    signalGroup,
    sweep: () => sweepTagged(tag),
    // What it said last is told before its end; a grandchild that keeps the pipe open must not hide the exit.
    exited: ended.then(async (exit) => {
      await Promise.race([read, Bun.sleep(200)]);
      return exit;
    }),
    stderr: ring.lines,
  };
  return { kind: "started", process: agent };
};
