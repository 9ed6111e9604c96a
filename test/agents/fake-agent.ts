// How does an agent process behave in memory? It speaks the true lines, hears each of ours, and dies when it is told to.
import type { AgentCommand, AgentExit, AgentProcess, SpawnAgent } from "../../src/platform/agent-world.ts";

export interface Message {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

/** A result, an error, or silence. */
export type Reply = { result: unknown } | { error: { code: number; message: string; data?: unknown } } | undefined;
export type Replies = Record<string, (params: Record<string, unknown>, agent: FakeAgent) => Reply>;

export interface FakeAgent {
  readonly pid: number;
  readonly command: AgentCommand;
  /** Every line that was written to it. */
  readonly lines: string[];
  readonly heard: Message[];
  /** What was done to it: "EOF", "SIGTERM", "SIGKILL", "sweep". */
  readonly done: string[];
  readonly alive: boolean;
  stderr: string[];
  /** Processes of other sessions that carry its tag. */
  leftovers: number;
  say(message: object | string): void;
  bytes(bytes: Uint8Array): void;
  update(sessionId: string, update: Record<string, unknown>): void;
  text(sessionId: string, text: string): void;
  /** Requests of ours of this method, oldest first. */
  asked(method: string): Message[];
  /** Answers the newest request of this method. */
  answer(method: string, reply: NonNullable<Reply>): void;
  exit(code?: number | null, signal?: string | null): void;
}

export interface FakeAgentOptions {
  replies?: Replies;
  /** What it does not leave for. */
  ignores?: readonly ("EOF" | "SIGTERM")[];
  missing?: boolean;
}

export interface FakeAgents {
  readonly spawn: SpawnAgent;
  readonly all: FakeAgent[];
  readonly latest: FakeAgent;
  readonly running: FakeAgent[];
  /** Read anew at each start and each request. */
  options: FakeAgentOptions;
}

export const CAPABILITIES = { loadSession: true, sessionCapabilities: { resume: {}, close: {}, list: {} } };

export const initialized = (agentCapabilities: unknown = CAPABILITIES, more: object = {}): Reply => ({
  result: { protocolVersion: 1, agentCapabilities, authMethods: [], ...more },
});

let sessions = 0;

const DEFAULT: Replies = {
  initialize: () => initialized(),
  "session/new": () => ({ result: { sessionId: `acp-${++sessions}` } }),
  "session/load": () => ({ result: {} }),
  "session/resume": () => ({ result: {} }),
  "session/close": () => ({ result: {} }),
  "session/list": () => ({ result: { sessions: [] } }),
  "session/set_mode": () => ({ result: {} }),
  "session/set_config_option": () => ({ result: { configOptions: [] } }),
};

export function createFakeAgents(options: FakeAgentOptions = {}): FakeAgents {
  const all: FakeAgent[] = [];
  const agents: FakeAgents = {
    all,
    get latest() {
      const last = all.at(-1);
      if (!last) throw new Error("No agent was started");
      return last;
    },
    get running() {
      return all.filter(({ alive }) => alive);
    },
    options,
    spawn(command, events) {
      if (agents.options.missing) return { kind: "missing", command: command.command };
      const { agent, process } = start(agents, command, events.output);
      all.push(agent);
      return { kind: "started", process };
    },
  };
  return agents;
}

function start(agents: FakeAgents, command: AgentCommand, output: (bytes: Uint8Array) => void) {
  const { promise: exited, resolve } = Promise.withResolvers<AgentExit>();
  const heard: Message[] = [];
  let alive = true;

  const later = (run: () => void): void => queueMicrotask(() => alive && run());
  const agent: FakeAgent = {
    pid: 5_000 + agents.all.length,
    command,
    lines: [],
    heard,
    done: [],
    stderr: [],
    leftovers: 0,
    get alive() {
      return alive;
    },
    bytes: (bytes) => alive && output(bytes),
    say: (message) => agent.bytes(Buffer.from(`${typeof message === "string" ? message : JSON.stringify(message)}\n`)),
    update: (sessionId, update) =>
      agent.say({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } }),
    text: (sessionId, text) =>
      agent.update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }),
    asked: (method) => heard.filter((each) => each.method === method && each.id !== undefined),
    answer(method, reply) {
      const asked = agent.asked(method).at(-1);
      if (!asked) throw new Error(`Nobody asked for "${method}"`);
      agent.say({ jsonrpc: "2.0", id: asked.id, ...reply });
    },
    exit(code = 0, signal = null) {
      if (!alive) return;
      alive = false;
      resolve({ code, signal });
    },
  };
  const leave = (why: "EOF" | "SIGTERM", code: number | null, signal: string | null): void => {
    agent.done.push(why);
    if (!agents.options.ignores?.includes(why)) later(() => agent.exit(code, signal));
  };
  const process: AgentProcess = {
    pid: agent.pid,
    write(line) {
      agent.lines.push(line);
      const message = JSON.parse(line) as Message;
      heard.push(message);
      if (message.method === undefined || message.id === undefined) return;
      const { method, id, params = {} } = message;
      const reply = (agents.options.replies?.[method] ?? DEFAULT[method])?.(params, agent);
      if (reply) later(() => agent.say({ jsonrpc: "2.0", id, ...reply }));
    },
    closeInput: () => leave("EOF", 0, null),
    signalGroup(signal) {
      if (signal === "SIGTERM") return leave(signal, null, signal);
      agent.done.push(signal);
      agent.exit(null, signal);
    },
    sweep() {
      agent.done.push("sweep");
      return agent.leftovers > 0 ? agent.leftovers-- : 0;
    },
    exited,
    stderr: () => agent.stderr,
  };
  return { agent, process };
}
