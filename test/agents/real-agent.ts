// How is a real agent process run in a test? With a list of what it said, and an end that leaves nothing behind.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endProcess } from "../../src/keeper/ladder.ts";
import { spawnAgent } from "../../src/platform/agent-child.ts";
import type { AgentProcess } from "../../src/platform/agent-world.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createLineSplitter } from "../../src/rpc/lines.ts";

export interface RealAgent extends AsyncDisposable {
  process: AgentProcess;
  lines: string[];
  /** Lengths of lines that were too long. */
  dropped: number[];
}

export interface RunOptions {
  env?: Record<string, string>;
  line?(text: string): void;
}

export const fixture = (name: string): string => join(import.meta.dir, "../fixtures/agents", name);

export const MAIN = join(import.meta.dir, "../../src/main.ts");

export function runAgent(command: string, args: readonly string[], options: RunOptions = {}): RealAgent {
  const lines: string[] = [];
  const dropped: number[] = [];
  const splitter = createLineSplitter({
    line(text) {
      lines.push(text);
      options.line?.(text);
    },
    tooLong: (bytes) => void dropped.push(bytes),
  });
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/tmp", ...options.env };
  const started = spawnAgent(
    { agent: "a", run: "r", command, args, env, cwd: "/" },
    { output: (bytes) => splitter.push(bytes) },
  );
  if (started.kind === "missing") throw new Error(`"${command}" is not there`);
  const agent = started.process;
  return {
    process: agent,
    lines,
    dropped,
    async [Symbol.asyncDispose]() {
      agent.signalGroup("SIGKILL");
      await endProcess(systemClock, agent);
    },
  };
}

export const runShell = (script: string, options?: RunOptions): RealAgent => runAgent("sh", ["-c", script], options);
export const runFixture = (name: string, args: readonly string[] = [], options?: RunOptions): RealAgent =>
  runAgent(process.execPath, [fixture(name), ...args], options);

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(2);
}

/** Fields of /proc/PID/stat behind the command: state, parent, group, session. */
export const statOf = (pid: number): { state: string; group: number; session: number } | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", , group, session] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state, group: Number(group), session: Number(session) };
  } catch {
    return undefined;
  }
};

export const isAlive = (pid: number): boolean => (statOf(pid)?.state ?? "Z") !== "Z";
