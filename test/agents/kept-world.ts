// On what do takeovers stand in a test? The whole service with keepers; the host dies, the keepers and agents live on.
import type { AgentServiceDeps } from "../../src/agents/service-needs.ts";
import { newestSeen } from "../../src/keeper/keepers.ts";
import { takeGeneration } from "../../src/platform/generation.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { type Held, type KeeperWorld, openKeeperWorld } from "../keeper/keeper-world.ts";
import { createMachine, type Machine } from "../support/fake-world.ts";
import type { FakeAgent, FakeAgentOptions } from "./fake-agent.ts";
import { newPromptId, openService, type ServiceWorld, type TestClient } from "./service-world.ts";

export interface KeptWorld extends Omit<ServiceWorld, "nextHost"> {
  readonly keep: KeeperWorld;
  readonly one: Held;
  readonly agent: FakeAgent;
  readonly fenced: number;
  nextHost(): KeptWorld;
  /** kill -9, and whoever comes next; `with`: who dies in the same moment. */
  takeover(also?: { keeper?: boolean; agent?: boolean; waitMs?: number }): KeptWorld;
  types(session?: string): string[];
  of(type: string, session?: string): SessionRecord[];
  /** What stands in the journal of what the agent said. */
  texts(session?: string): string[];
}

export interface KeptOptions extends FakeAgentOptions {
  machine?: Machine;
  deps?: Partial<AgentServiceDeps>;
}

export function openKept({ machine = createMachine(), deps = {}, ...agents }: KeptOptions = {}): KeptWorld {
  return openHost(openKeeperWorld({ machine, ...agents }), deps);
}

function openHost(keep: KeeperWorld, more: Partial<AgentServiceDeps>): KeptWorld {
  const { machine } = keep;
  let fenced = 0;
  const world = openService({
    machine,
    deps(process) {
      const generation = takeGeneration(machine.files, process.clock, "/state", newestSeen(machine.files, "/state"));
      const keepers = keep.keepersOf(process, generation);
      return { generation, keepers, spawn: keepers.spawn, fenced: () => void fenced++, ...more };
    },
  });
  const { journal } = world;
  return {
    ...world,
    agents: keep.agents,
    keep,
    get fenced() {
      return fenced;
    },
    get one() {
      const last = keep.held.at(-1);
      if (!last) throw new Error("No agent was started");
      return last;
    },
    get agent() {
      return keep.agents.latest;
    },
    takeover({ keeper = false, agent = false, waitMs = 0 } = {}) {
      world.process.kill();
      if (keeper) keep.keepers.at(-1)?.kill();
      if (agent) keep.agents.latest.exit(null, "SIGKILL");
      machine.advance(waitMs);
      const next = openHost(keep, more);
      machine.wait(next.client("probe").ask({ verb: "sessions" }));
      machine.advance(20);
      return next;
    },
    types: (session = "work") => journal(session).map(({ type }) => type),
    of: (type: string, session = "work") => journal(session).filter((each) => each.type === type),
    texts: (session = "work") =>
      journal(session)
        .filter(({ type }) => type === "update")
        .map(({ data }) => (data["update"] as { content?: { text?: string } }).content?.text ?? "?"),
    nextHost: () => openHost(keep, more),
  };
}

export const END_TURN = { result: { stopReason: "end_turn" } };

/** In the middle of a turn, with a client attached. */
export function keptMidTurn(options: KeptOptions = {}, policy: "ask" | "deny" | "allow" = "ask") {
  const world = openKept(options);
  const viewer = world.client("ann");
  const promptId = newPromptId();
  viewer.prompt("first", { session: "work", policy, promptId });
  viewer.attach("work");
  world.machine.until(() => world.keep.agents.all.length > 0 && world.agent.asked("session/prompt").length === 1);
  const acpId = String(world.agent.asked("session/prompt")[0]?.params?.["sessionId"]);
  world.machine.advance(5);
  return { world, viewer, promptId, acpId };
}

/** Attaches to the new host behind what it has. */
export function reattach(world: KeptWorld, before: TestClient, session = "work"): TestClient {
  const client = world.client(before.clientId);
  client.heard.push(...before.heard);
  client.attach(session, before.heard.at(-1)?.seq ?? 0);
  return client;
}
