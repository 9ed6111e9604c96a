// On what does the whole service stand in a test? Agents in memory, a disk in memory, clients that write down what they hear.
import { BUILT_IN } from "../../src/agents/definitions.ts";
import { createAgentService } from "../../src/agents/service.ts";
import type { AgentService, AgentServiceDeps } from "../../src/agents/service-needs.ts";
import { filesUnder, takeGeneration } from "../../src/platform/generation.ts";
import type { AgentRequest, SessionRecord } from "../../src/protocol/agents.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { createMachine, type FakeProcess, type Machine } from "../support/fake-world.ts";
import { createFakeAgents, type FakeAgentOptions, type FakeAgents } from "./fake-agent.ts";

type PromptRequest = Extract<AgentRequest, { verb: "prompt" }>;

export interface TestClient {
  readonly clientId: string;
  readonly heard: SessionRecord[];
  /** Types of what it heard, in order. */
  types(): string[];
  of(type: string): SessionRecord[];
  ask(request: AgentRequest): Promise<unknown>;
  /** Asked and answered, on the virtual clock. */
  done<Answer = Record<string, unknown>>(request: AgentRequest): Answer;
  prompt(text: string, more?: Partial<PromptRequest>): { session: string; after: number };
  attach(session: string, after?: number): void;
  /** Acknowledges everything it heard. */
  acknowledge(session: string): void;
  leave(): void;
}

export interface ServiceWorld {
  machine: Machine;
  process: FakeProcess;
  agents: FakeAgents;
  service: AgentService;
  client(clientId?: string): TestClient;
  /** The journal as it lies on the disk. */
  journal(session: string): SessionRecord[];
  /** Another host on the same disk. */
  nextHost(): ServiceWorld;
}

export interface ServiceOptions extends FakeAgentOptions {
  machine?: Machine;
  deps?: Partial<AgentServiceDeps> | ((process: FakeProcess) => Partial<AgentServiceDeps>);
}

export const ENV = { PATH: "/bin", HOME: "/home/me", ANTHROPIC_API_KEY: "sk-1", SECRET_OF_HOST: "never" };

let prompts = 0;
export const newPromptId = (): string => `${String(++prompts).padStart(8, "0")}-prompt`;

export function openService(options: ServiceOptions = {}): ServiceWorld {
  const { machine = createMachine(), deps = {}, ...rest } = options;
  const process = machine.process();
  const agents = createFakeAgents(rest);
  const more = typeof deps === "function" ? deps(process) : deps;
  const { files, clock } = process.world;
  const generation = more.generation ?? takeGeneration(files, clock, "/state");
  const service = createAgentService({
    ...process.world,
    files: filesUnder(generation, files),
    generation,
    directory: "/state",
    definitions: BUILT_IN,
    spawn: agents.spawn,
    which: () => true,
    idleLimits: () => DEFAULT_SETTINGS.idle,
    companyChanged() {},
    // Files have no times here: all of them would be too old.
    retention: { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY },
    ...more,
  });
  return {
    machine,
    process,
    agents,
    service,
    journal: (session) =>
      (machine.files.texts.get(`/state/sessions/${session}.ndjson`) ?? "")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    client: (clientId = "client-1") => openClient(machine, service, clientId),
    nextHost: () => openService({ ...rest, machine, deps }),
  };
}

function openClient(machine: Machine, service: AgentService, clientId: string): TestClient {
  const heard: SessionRecord[] = [];
  const events = (_: string, records: SessionRecord[]) => void heard.push(...records);
  const ask = (request: AgentRequest) => service.asked({ clientId, events }, request);
  const client: TestClient = {
    clientId,
    heard,
    types: () => heard.map(({ type }) => type),
    of: (type) => heard.filter((each) => each.type === type),
    ask,
    done: <Answer>(request: AgentRequest) => machine.wait(ask(request)) as Answer,
    prompt: (text, more = {}) =>
      client.done({
        verb: "prompt",
        agent: "claude-code",
        cwd: "/work",
        policy: "deny",
        promptId: newPromptId(),
        detach: false,
        env: ENV,
        text,
        ...more,
      }),
    attach: (session, after = 0) => void client.done({ verb: "attach", session, after }),
    acknowledge: (session) => service.acknowledged(clientId, session, heard.at(-1)?.seq ?? 0),
    leave: () => service.left(clientId),
  };
  return client;
}

export const END_TURN = { result: { stopReason: "end_turn" } };

/** A session with an agent in the middle of its first turn. */
export function midTurn(options: ServiceOptions = {}, more: Partial<PromptRequest> = {}) {
  const world = openService(options);
  const client = world.client();
  const { session } = client.prompt("first", { session: "work", ...more });
  client.attach(session);
  world.machine.until(() => world.agents.latest.asked("session/prompt").length === 1);
  const acpId = String(world.agents.latest.asked("session/prompt")[0]?.params?.["sessionId"]);
  return { ...world, viewer: client, session, acpId };
}

/** Answers the turn that runs, and waits until its end is told. */
export function endTurn(world: Pick<ServiceWorld, "machine" | "agents">, client: TestClient): void {
  const before = client.of("turn-ended").length;
  world.agents.latest.answer("session/prompt", END_TURN);
  world.machine.until(() => client.of("turn-ended").length > before);
}
