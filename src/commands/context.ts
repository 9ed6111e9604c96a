// What does a command get, besides its arguments?
import type { BridgeOptions } from "../bridge/bridge.ts";
import type { BridgeConnection } from "../bridge/connection.ts";
import type { State } from "../bridge/state.ts";
import type { Child, ChildOptions, Log, StartedProcess, World } from "../platform/world.ts";
import type { Config } from "../protocol/config.ts";
import { type AnyCommand, command, type Format } from "../surface/command.ts";
import type { Env } from "../surface/flags.ts";
import type { Printer } from "../surface/print.ts";

export type OpenOptions = Pick<BridgeOptions, "port" | "mode"> & Partial<BridgeOptions> & { log?: Log };

export interface CallOptions {
  port: number;
  format: Format;
  signal: AbortSignal;
  showPicture(bytes: Uint8Array, mimeType: string): void;
}

export interface Called {
  /** Its exit code. */
  code: number;
  text: string;
  notes: string[];
  fault?: { code: string; message: string; data: Record<string, unknown> };
}

export interface Context {
  world: World;
  env: Env;
  printer: Printer;
  /** Resolves when whoever reads our output has kept up. */
  room(): Promise<void>;
  /** Aborts at the first Ctrl-C, SIGTERM, SIGHUP, or when nobody reads our output any more. */
  signal: AbortSignal;
  state: State;
  /** Opened here, closed when the command ends, however it ends. */
  open(options: OpenOptions): Promise<BridgeConnection>;
  startBackgroundHost(port: number): Promise<StartedProcess>;
  /** Against the directory we were called in. */
  absolute(path: string): string;
  isDirectory(path: string): boolean;
  readStdin(): Promise<string>;
  /** Somebody sits at a terminal and can be asked. */
  readonly isInteractive: boolean;
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** The environment without gaps; of it an agent gets what its definition lists. */
  plainEnv: Readonly<Record<string, string>>;
  readFile(path: string): Promise<string>;
  writeFile(path: string, bytes: Uint8Array): Promise<void>;
  /** Read and checked when first asked for. */
  config(): Promise<Config>;
  /** The config file as it stands; undefined text when there is none. */
  configText(): { path: string; text: string | undefined };
  /** Starts this same program with other words. */
  startSelf(words: readonly string[], options: ChildOptions): Child;
  isRunning(pid: number): boolean;
  /** Whether this platform has what keepers need; where not, an agent ends with its host. */
  hasKeepers: boolean;
  /** At once, as a crash would. */
  killProcess(pid: number): void;
  /** With the person's terminal; its exit code. */
  runInTerminal(command: readonly string[], env: Readonly<Record<string, string>>): Promise<number>;
  /** Where a picture can be shown; else it is written to a file. */
  showPicture?(bytes: Uint8Array, mimeType: string): void;
  /** Runs another command inside this one; what it prints is kept. Faults are part of the answer. */
  call(name: string, values: Readonly<Record<string, unknown>>, how: CallOptions): Promise<Called>;
  /** Removed when the command ends. */
  temporaryDirectory(): string;
}

export type HoldfastCommand = AnyCommand<Context>;

export const holdfastCommand = command<Context>();
