// What does a test of agents stand on? A stage that finds its agents too: they never see the stage's own tag.
import { expect } from "bun:test";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listenerOf, signal, type Tagged, taggedProcesses } from "./leftovers.ts";
import type { Proc, StreamEvent } from "./process.ts";
import { type Stage, staged } from "./support.ts";

export interface SessionEvent extends StreamEvent {
  /** First of a range, where texts were merged. */
  from?: number;
}

export interface AgentEntry {
  kind: string;
  name: string;
  agent: string;
  cwd: string;
  turn: string;
  queued: number;
  clients: number;
  lastSeq: number;
  idle: { verdict: string; reason: string; dueInMs: number | null };
}

export interface AgentStage extends Stage {
  /** Agents and what they started; not who holds their input open. */
  agentProcesses(): Tagged[];
  /** Who holds the input of an agent open. */
  holders(): Tagged[];
  /** The processes that hold agents. */
  keeperPids(): number[];
  /** Who listens now, as the system tells: asking a host takes longer than some of them live. */
  listener(): number | undefined;
  /** What stands in the session's journal. */
  journal(session: string): SessionEvent[];
  /** What was written to the agents that run now, as far as their keepers have not given it back. */
  inputs(): { key: string; method: string | undefined }[];
  agentPid(name?: string): Promise<number>;
  /** Agent sessions, as `sessions --format json` lists them. */
  agentSessions(): Promise<AgentEntry[]>;
  agentSession(name: string): Promise<AgentEntry | undefined>;
  /** A standing client of the session that prints its events. */
  attach(session: string, ...flags: string[]): Proc;
  /** What `codex` runs: an agent whose prompt says how its turn ends. */
  installOddAgent(): void;
}

/** The second is the first on its way to its sleep: for a moment it still carries the agent's environment. */
const isHolder = (command: string): boolean => command.includes("while kill -0") || command.startsWith("env -i PATH=");
const ODD_AGENT = join(import.meta.dir, "agent-odd.ts");

/** An agent gets the state directory that is ours alone, and hands it on to whatever it starts. */
const processesOf = (env: Record<string, string>): Tagged[] =>
  taggedProcesses(`XDG_STATE_HOME=${env["XDG_STATE_HOME"]}`);

const linesOf = (path: string): string[] => readFileSync(path, "utf8").split("\n").filter(Boolean);

export const withAgents =
  (body: (stage: AgentStage) => Promise<void>, env: Record<string, string> = {}): (() => Promise<void>) =>
  async () => {
    let own: Record<string, string> = {};
    try {
      await staged(async (stage) => {
        own = Object.assign(stage.env, env);
        await body(addAgents(stage));
      })();
      expect(processesOf(own)).toEqual([]);
    } finally {
      for (const { pid } of processesOf(own)) signal(pid, "SIGKILL");
    }
  };

function addAgents(stage: Stage): AgentStage {
  const list = async (...words: string[]) => {
    const { code, stdout, stderr } = await stage.run([...words, "--format", "json"]);
    if (code !== 0) throw new Error(`"${words.join(" ")}" ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const agentSessions = async (): Promise<AgentEntry[]> =>
    (await list("sessions")).filter(({ kind }: AgentEntry) => kind === "agent");
  return {
    ...stage,
    agentProcesses() {
      const ours = new Set(stage.processes().map(({ pid }) => pid));
      return processesOf(stage.env).filter(({ pid, command }) => !ours.has(pid) && !isHolder(command));
    },
    holders: () => processesOf(stage.env).filter(({ command }) => command.includes("while kill -0")),
    keeperPids: () =>
      stage
        .processes()
        .filter(({ command }) => / keeper \//.test(command))
        .map(({ pid }) => pid),
    async agentPid(name = "demo") {
      const { pid } = (await list("agents")).find((agent: { name: string }) => agent.name === name);
      if (typeof pid !== "number") throw new Error(`The agent "${name}" does not run`);
      return pid;
    },
    listener: () =>
      listenerOf(
        stage.port,
        stage.processes().map(({ pid }) => pid),
      ),
    journal(session) {
      const directory = join(stage.state, "ports", String(stage.port));
      const file = readdirSync(directory, { recursive: true, encoding: "utf8" }).find((path) =>
        path.endsWith(`${session}.ndjson`),
      );
      return linesOf(join(directory, file ?? "none")).map((line) => JSON.parse(line));
    },
    inputs: () =>
      stage
        .keepers()
        .flatMap((keeper) => linesOf(join(keeper, "in.log")))
        // A hole is zeros, may end inside a line, and may be made while we read.
        .filter((line) => !line.includes("\0"))
        .map((line) => JSON.parse(line))
        .filter(({ key }) => key !== undefined)
        .map(({ key, line }) => ({ key, method: JSON.parse(line).method })),
    agentSessions,
    agentSession: async (name) => (await agentSessions()).find((each) => each.name === name),
    attach: (session, ...flags) => stage.spawn(["attach", session, "--format", "json", ...flags]),
    installOddAgent() {
      const file = join(stage.directory, "bin", "codex-acp");
      writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${ODD_AGENT}"\n`);
      chmodSync(file, 0o755);
    },
  };
}

export const prompt = (session: string, text: string, ...flags: string[]): string[] => [
  "prompt",
  "demo",
  text,
  "--session",
  session,
  ...flags,
];
export const inJson = (...words: string[]): string[] => [...words, "--format", "json"];

interface Chunk {
  sessionUpdate?: string;
  content?: { type: string; text: string };
}

const chunkOf = ({ type, data }: SessionEvent): Chunk | undefined => {
  const update = data["update"] as Chunk | undefined;
  return type === "update" && update?.sessionUpdate?.endsWith("_chunk") ? update : undefined;
};

/** What the agent said, in one piece. */
export const textOf = (events: readonly SessionEvent[]): string =>
  events
    .map(chunkOf)
    .map((chunk) => (chunk?.sessionUpdate === "agent_message_chunk" ? (chunk.content?.text ?? "") : ""))
    .join("");

/** What `stream COUNT MS` says, in one piece. */
export const chunks = (count: number): string => Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join("");

/** Every journal number these events stand for, in the order they came. */
export const numbersOf = (events: readonly SessionEvent[]): number[] =>
  events.flatMap(({ from, seq }) => Array.from({ length: seq - (from ?? seq) + 1 }, (_, at) => (from ?? seq) + at));

/** The same for all who saw the same, however texts were merged on their way. */
export function merged(events: readonly SessionEvent[]): SessionEvent[] {
  const all: SessionEvent[] = [];
  for (const event of events) {
    const [last, chunk] = [all.at(-1), chunkOf(event)];
    const before = last && chunkOf(last);
    if (!last || !chunk || before?.sessionUpdate !== chunk.sessionUpdate) {
      all.push({ ...event, from: event.from ?? event.seq });
      continue;
    }
    const text = `${before?.content?.text}${chunk.content?.text}`;
    const update = { ...chunk, content: { type: "text", text } };
    all[all.length - 1] = { ...event, from: last.from ?? last.seq, data: { ...event.data, update } };
  }
  return all;
}
