// On what does a manager stand in a test? Agents in memory, virtual time, and a list of all that was told.
import { AgentManager } from "../../src/agents/agent-manager.ts";
import type { AgentEvents } from "../../src/agents/agent-slot.ts";
import { BUILT_IN } from "../../src/agents/definitions.ts";
import { createLauncher, type LauncherDeps } from "../../src/agents/launcher.ts";
import { createEmitter } from "../../src/core/emitter.ts";
import { createMachine, type LogLine, type Machine } from "../support/fake-world.ts";
import { createFakeAgents, type FakeAgentOptions, type FakeAgents } from "./fake-agent.ts";

export interface ManagerWorld {
  machine: Machine;
  manager: AgentManager;
  agents: FakeAgents;
  log: readonly LogLine[];
  /** Statuses of Claude Code, in the order they were told. */
  statuses: string[];
  errors: AgentEvents["error"][];
  exits: AgentEvents["agent:exited"][];
  told: { cliType: string; status: string }[];
  launcher: ReturnType<typeof createLauncher>;
}

export const CLAUDE = "claude-code";

export function openManager(options: FakeAgentOptions = {}, more: Partial<LauncherDeps> = {}): ManagerWorld {
  const machine = createMachine();
  const { world, log } = machine.process();
  const agents = createFakeAgents(options);
  const emitter = createEmitter<AgentEvents>((thrown) => {
    throw thrown;
  });
  const told: { cliType: string; status: string }[] = [];
  const statuses: string[] = [];
  const errors: AgentEvents["error"][] = [];
  const exits: AgentEvents["agent:exited"][] = [];
  emitter.on("agent:status", (status) => {
    told.push(status);
    if (status.cliType === CLAUDE) statuses.push(status.status);
  });
  emitter.on("error", (error) => errors.push(error));
  emitter.on("agent:exited", (exit) => exits.push(exit));
  const launcher = createLauncher({
    ...world,
    directory: "/state",
    definitions: BUILT_IN,
    spawn: agents.spawn,
    which: () => true,
    update() {},
    permission: async () => ({ outcome: "cancelled" }),
    withdrawn() {},
    torn() {},
    notice: (_, text) => world.log.warn(text),
    full() {},
    onRecord: () => -1,
    isWritten: () => true,
    ...more,
  });
  const { clock } = world;
  const manager = new AgentManager(emitter, { clock, displayName: launcher.displayName, start: launcher.start });
  return { machine, manager, agents, log, statuses, errors, exits, told, launcher };
}
