// On what do idle tests stand? The real service over agents in memory, on a virtual clock; time passes when a test says so.
import { BUILT_IN } from "../../src/agents/definitions.ts";
import { createAgentService } from "../../src/agents/service.ts";
import type { AgentService } from "../../src/agents/service-needs.ts";
import type { ServiceClient } from "../../src/agents/verbs.ts";
import { takeGeneration } from "../../src/platform/generation.ts";
import type { AgentRequest, AgentSessionInfo, SessionRecord } from "../../src/protocol/agents.ts";
import { DEFAULT_SETTINGS, type IdleLimits } from "../../src/protocol/settings.ts";
import { createMachine, type FakeProcess, type LogLine, type Machine } from "../support/fake-world.ts";
import { createFakeAgents, type FakeAgent, type FakeAgentOptions, type FakeAgents } from "./fake-agent.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const AGENT = "claude-code";

type Asked = AgentRequest extends infer Each ? (Each extends { verb: "prompt" } ? Partial<Each> : never) : never;

export interface IdleWorld {
  readonly machine: Machine;
  readonly process: FakeProcess;
  readonly agents: FakeAgents;
  readonly service: AgentService;
  readonly log: readonly LogLine[];
  readonly companyChanges: number;
  ask(clientId: string, request: AgentRequest): unknown;
  /** A prompt to "work", unless told otherwise; its text names the turn. */
  prompt(text: string, options?: Asked & { clientId?: string }): void;
  attach(clientId?: string, session?: string, after?: number): AgentSessionInfo;
  leave(clientId?: string): void;
  say(text: string, update?: Record<string, unknown>): void;
  finish(text: string): void;
  idle(session?: string): AgentSessionInfo["idle"];
  records(session?: string): SessionRecord[];
  record(type: string, session?: string): SessionRecord | undefined;
  /** What a client was sent. */
  seen(clientId: string): SessionRecord[];
}

export interface IdleWorldOptions {
  limits?: Partial<IdleLimits>;
  agents?: FakeAgentOptions;
}

const textOf = (params: Record<string, unknown> | undefined): unknown =>
  (params?.["prompt"] as { text?: string }[] | undefined)?.[0]?.text;

export function openIdleWorld({ limits, agents: agentOptions }: IdleWorldOptions = {}): IdleWorld {
  const machine = createMachine();
  const process = machine.process();
  const agents = createFakeAgents(agentOptions);
  const events = new Map<string, SessionRecord[]>();
  let companyChanges = 0;
  const idleLimits = { ...DEFAULT_SETTINGS.idle, ...limits };
  const service = createAgentService({
    ...process.world,
    generation: takeGeneration(machine.files, process.clock, "/state"),
    directory: "/state",
    definitions: BUILT_IN,
    spawn: agents.spawn,
    which: () => true,
    idleLimits: () => idleLimits,
    companyChanged: () => void companyChanges++,
  });
  const client = (clientId: string): ServiceClient => ({
    clientId,
    events: (_session, records) => void events.set(clientId, [...(events.get(clientId) ?? []), ...records]),
  });
  const ask = (clientId: string, request: AgentRequest): unknown =>
    machine.wait(service.asked(client(clientId), request));
  const turn = (text: string): { agent: FakeAgent; id: unknown; sessionId: string } => {
    for (const agent of agents.all) {
      const found = agent.asked("session/prompt").find(({ params }) => textOf(params) === text);
      if (found) return { agent, id: found.id, sessionId: String(found.params?.["sessionId"]) };
    }
    throw new Error(`No agent was asked "${text}"`);
  };
  const records = (session = "work"): SessionRecord[] =>
    (machine.files.texts.get(`/state/sessions/${session}.ndjson`) ?? "")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "." } };

  return {
    machine,
    process,
    agents,
    service,
    log: process.log,
    get companyChanges() {
      return companyChanges;
    },
    ask,
    prompt(text, { clientId = "ann", ...more } = {}) {
      const base = { verb: "prompt", agent: AGENT, session: "work", cwd: "/w", policy: "allow", env: {} } as const;
      ask(clientId, { ...base, text, promptId: `prompt ${text}`, detach: false, ...more });
      machine.advance(0);
    },
    attach: (clientId = "ann", session = "work", after = 0) =>
      ask(clientId, { verb: "attach", session, after }) as AgentSessionInfo,
    leave: (clientId = "ann") => service.left(clientId),
    say(text, update = chunk) {
      const { agent, sessionId } = turn(text);
      agent.update(sessionId, update);
      machine.advance(0);
    },
    finish(text) {
      const { agent, id } = turn(text);
      agent.say({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
      machine.advance(0);
    },
    idle(session = "work") {
      const info = service.infos().find(({ name }) => name === session);
      if (!info) throw new Error(`There is no session "${session}"`);
      return info.idle;
    },
    records,
    record: (type, session) => records(session).findLast((each) => each.type === type),
    seen: (clientId) => events.get(clientId) ?? [],
  };
}
