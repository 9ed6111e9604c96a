// How does a program of one's own use the bridge? The package's entry: real world inside; it hosts only where asked to.
import { basename, dirname, join } from "node:path";
import { openBridge } from "./bridge/bridge.ts";
import type { BridgeConnection as Connection } from "./bridge/connection.ts";
import { createHosting } from "./bridge/hosting.ts";
import { createState, type State } from "./bridge/state.ts";
import { readText } from "./platform/files.ts";
import { createNoteLog } from "./platform/log.ts";
import { actAs, startDetached } from "./platform/self.ts";
import { configFile, createSystemWorld, stateDirectory } from "./platform/system.ts";
import { createTerminal } from "./platform/terminal.ts";
import type { World } from "./platform/world.ts";
import { Fault } from "./protocol/fault.ts";
import { DEFAULT_PORT } from "./protocol/version.ts";

export type { BridgeSession, ExecResult } from "./bridge/session.ts";
export {
  ActionTimeoutError,
  CapabilityNotSupportedError,
  ContextNotFoundError,
  Fault,
  HostUnreachableError,
  SessionDisconnectedError,
  SessionNotFoundError,
} from "./protocol/fault.ts";
export type { InstanceInfo, SessionInfo } from "./protocol/host-messages.ts";

export interface ConnectOptions {
  port?: number;
  /** True: stands in line too, and when it is its turn hosts plugins and agents (default: joins a host only). */
  standing?: boolean;
  /** False: fails where no host runs (default: starts one in the background, which ends by itself). */
  start?: boolean;
  /** Where token and settings lie (default: as the command line); its last part must be "holdfast". */
  stateDirectory?: string;
  /** Told what a person should know (default: written to stderr). */
  notice?: (message: string) => void;
}

export type BridgeConnection = Connection;

/** Hosts in the background and keepers are processes of their own. */
function findProgram(): void {
  if (actAs(join(import.meta.dir, "main.ts"), "holdfast")) return;
  throw new Fault("HOST_UNREACHABLE", "The holdfast program is not found, which a host needs; put it on your PATH");
}

/** Whoever hosts hosts agents too: the next in line may be the one that adopts them. */
async function hostParts(world: World, state: State) {
  findProgram();
  const [{ agentService }, { readConfig }] = await Promise.all([
    import("./agents.ts"),
    import("./commands/config-file.ts"),
  ]);
  const path = configFile(process.env);
  return {
    hosting: createHosting,
    service: agentService(world, state, readConfig(path, readText(path))),
    rehearses: true,
  };
}

async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const { port = DEFAULT_PORT, standing = false, start = true } = options;
  const terminal = createTerminal({ env: process.env });
  const notice = options.notice ?? ((message: string) => terminal.err(`holdfast: ${message}\n`));
  // Bugs of the program around us are none of ours.
  const world = { ...createSystemWorld(createNoteLog(notice)), onBug: () => () => {} };
  const directory = options.stateDirectory ?? stateDirectory(process.env);
  const state = createState(world, directory);
  const startHost = () => {
    findProgram();
    if (basename(directory) !== "holdfast") {
      const message = `No host runs for "${directory}", and none can be started: its last part is not "holdfast"`;
      throw new Fault("USAGE", message, { option: "stateDirectory" });
    }
    return startDetached(["background-host", "--port", String(port)], { XDG_STATE_HOME: dirname(directory) });
  };
  const connection = await openBridge(world, {
    port,
    mode: standing ? "standing" : "command",
    state,
    ...(standing ? await hostParts(world, state) : {}),
    startHost: start ? startHost : undefined,
    listener: { notice, stopAsked: () => void connection.disconnect() },
  });
  return connection;
}

export const BridgeConnection = { connect };
