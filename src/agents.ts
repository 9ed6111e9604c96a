// What does a host need to run agents? The service with its real processes; loaded only by those who may host.
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { type AgentDefinition, allDefinitions, type ServerOf } from "./agents/definitions.ts";
import { createConversationStore, demoStore } from "./agents/demo-agent/store.ts";
import { unlessElsewhere } from "./agents/left-alone.ts";
import { createAgentService } from "./agents/service.ts";
import type { AgentService } from "./agents/service-needs.ts";
import type { ServiceNeeds } from "./bridge/ask-service.ts";
import type { EndingService } from "./bridge/bridge.ts";
import type { State } from "./bridge/state.ts";
import { NO_CAP_MS } from "./core/idle.ts";
import { retentionOf } from "./core/prune.ts";
import { createHomes } from "./keeper/homes.ts";
import { createKeepers, type KeptAgents, newestSeen } from "./keeper/keepers.ts";
import { commandPath, findCommand, spawnAgent } from "./platform/agent-child.ts";
import type { Generation } from "./platform/agent-world.ts";
import { freeBytes, punchHole } from "./platform/disk.ts";
import { readEnd } from "./platform/files.ts";
import { filesUnder, takeGeneration } from "./platform/generation.ts";
import { connectLines } from "./platform/line-socket.ts";
import { kill, lifeOf, ownMark } from "./platform/processes.ts";
import { selfCommand, startDetached } from "./platform/self.ts";
import { holdShared, isHeld } from "./platform/shared-lock.ts";
import { sweepMarks } from "./platform/strays.ts";
import { hasFifos } from "./platform/system.ts";
import { nameHostIfTagged, sweepTagged } from "./platform/tagged.ts";
import { openWatchesFirst, tailFile } from "./platform/tail.ts";
import { whereabouts } from "./platform/whereabouts.ts";
import type { World } from "./platform/world.ts";
import type { Config } from "./protocol/config.ts";

const DEMO = "demo";

function demoDefinition(): AgentDefinition {
  const [command, ...args] = selfCommand() as [string, ...string[]];
  return {
    name: DEMO,
    displayName: "Demo",
    commands: [{ command, args: [...args, "demo-agent"] }],
    environment: ["PATH", "HOME", "XDG_STATE_HOME", "LANG", "TMPDIR"],
    env: {},
    install: "It is part of holdfast",
  };
}

/** "holdfast" stands for our own server, which must find this host whatever environment the agent gives it. */
const serverOf =
  (port: number, directory: string): ServerOf =>
  (server) => {
    if (server !== "holdfast") return server;
    const [command = "", ...args] = selfCommand();
    const env = [
      { name: "HOLDFAST_PORT", value: String(port) },
      { name: "XDG_STATE_HOME", value: dirname(directory) },
    ];
    return { name: "holdfast", command, args: [...args, "mcp"], env };
  };

/** Undefined where there are no FIFOs: there an agent is its host's child, and dies with it. */
function keepersAt(
  world: World,
  directory: string,
  { number }: Generation,
  needs: ServiceNeeds,
): KeptAgents | undefined {
  if (!hasFifos) return undefined;
  const { clock, files, log } = world;
  return createKeepers({
    here: whereabouts(),
    clock,
    files,
    log,
    directory,
    generation: number,
    connect: connectLines,
    startKeeper: (place) => startDetached(["keeper", place]),
    tail: (path, from, tell) => tailFile(clock, path, from, tell),
    tailText: readEnd,
    lifeOf,
    sweep: (tag, strays) => sweepTagged(tag) + sweepMarks(strays),
    kill: (pid) => void kill(pid, "SIGKILL"),
    punchHole,
    newTag: world.newId,
    self: ownMark(),
    find: commandPath,
    lingerMs: () => needs.idleLimits().maxIdleMs || NO_CAP_MS,
    shortDirectory() {
      const made = join(tmpdir(), `holdfast-${userInfo().uid}`);
      files.directory(made);
      return made;
    },
  });
}

export function agentService(
  world: World,
  state: State,
  config: Config,
): (port: number, needs: ServiceNeeds) => EndingService {
  // Makes the directory too.
  state.token();
  openWatchesFirst(state.directory);

  const openService = (port: number, directory: string, needs: ServiceNeeds): AgentService => {
    const generation = takeGeneration(world.files, world.clock, directory, newestSeen(world.files, directory));
    const own = { ...world, files: filesUnder(generation, world.files) };
    const keepers = keepersAt(own, directory, generation, needs);
    return createAgentService({
      ...own,
      ...needs,
      directory,
      generation,
      definitions: allDefinitions(config.agents, [demoDefinition()], serverOf(port, state.directory)),
      spawn: keepers?.spawn ?? spawnAgent,
      ...(keepers ? { keepers } : {}),
      which: findCommand,
      freeBytes: () => freeBytes(directory),
      retention: retentionOf(config),
      forget(agent, acpSessionId) {
        if (agent === DEMO) createConversationStore(own.files, demoStore(state.directory)).remove(acpSessionId);
      },
    });
  };

  return (port, needs) => {
    nameHostIfTagged();
    const directory = state.portDirectory(port);
    const here = whereabouts();
    // Whoever takes over is in a hurry, and the first lock takes a millisecond.
    const hold = (path: string): void => void world.clock.after(0, () => holdShared(path));
    const homes = createHomes({ ...world, directory, here, hold, isHeld });
    return unlessElsewhere({
      port,
      elsewhere: homes.others,
      open() {
        homes.enter();
        return openService(port, directory, needs);
      },
      warn: (message) => world.log.warn(message),
    });
  };
}
