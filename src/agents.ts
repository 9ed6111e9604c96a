// What does a host need to run agents? The service with its real processes; loaded only by those who may host.
import { type AgentDefinition, allDefinitions } from "./agents/definitions.ts";
import { createAgentService } from "./agents/service.ts";
import type { ServiceNeeds } from "./bridge/ask-service.ts";
import type { EndingService } from "./bridge/bridge.ts";
import type { State } from "./bridge/state.ts";
import { findCommand, spawnAgent } from "./platform/agent-child.ts";
import { selfCommand } from "./platform/self.ts";
import type { World } from "./platform/world.ts";
import type { Config } from "./protocol/config.ts";

function demoDefinition(): AgentDefinition {
  const [command, ...args] = selfCommand() as [string, ...string[]];
  return {
    name: "demo",
    displayName: "Demo",
    commands: [{ command, args: [...args, "demo-agent"] }],
    environment: ["PATH", "HOME", "XDG_STATE_HOME", "LANG", "TMPDIR"],
    env: {},
    install: "It is part of holdfast",
  };
}

export const agentService =
  (world: World, state: State, config: Config) =>
  (port: number, needs: ServiceNeeds): EndingService =>
    createAgentService({
      ...world,
      ...needs,
      directory: state.portDirectory(port),
      definitions: allDefinitions(config.agents, [demoDefinition()]),
      spawn: spawnAgent,
      which: findCommand,
    });
