// How does a program of one's own use the bridge? The package's entry: real world inside, host or client without knowing.
import { openBridge } from "./bridge/bridge.ts";
import type { BridgeConnection as Connection } from "./bridge/connection.ts";
import { createHosting } from "./bridge/hosting.ts";
import { createState } from "./bridge/state.ts";
import { createNoteLog } from "./platform/log.ts";
import { createSystemWorld, stateDirectory } from "./platform/system.ts";
import { createTerminal } from "./platform/terminal.ts";
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
  /** False: never host, only join; fails when no host runs. */
  standing?: boolean;
  /** Where token and settings lie (default: as the command line). */
  stateDirectory?: string;
  /** Told what a person should know (default: written to stderr). */
  notice?: (message: string) => void;
}

export type BridgeConnection = Connection;

async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const terminal = createTerminal({ env: process.env });
  const notice = options.notice ?? ((message: string) => terminal.err(`holdfast: ${message}\n`));
  const world = createSystemWorld(createNoteLog(notice));
  const state = createState(world, options.stateDirectory ?? stateDirectory(process.env));
  const connection = await openBridge(world, {
    port: options.port ?? DEFAULT_PORT,
    mode: options.standing === false ? "command" : "standing",
    state,
    hosting: createHosting,
    listener: { notice, stopAsked: () => void connection.disconnect() },
  });
  return connection;
}

export const BridgeConnection = { connect };
