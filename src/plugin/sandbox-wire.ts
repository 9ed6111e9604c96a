// What do the plugin and its sandbox thread say to each other? Over a port of their own, which user code cannot reach.
import type { LogEntry } from "../protocol/plugin.ts";

export interface DataModelQuery {
  path: string;
  depth?: number | undefined;
  /** Absent: all of them. Empty: none. */
  properties?: readonly string[] | undefined;
  find?: { name: string; recursive?: boolean | undefined } | undefined;
  listServices?: boolean | undefined;
}

export interface DataModelInstance {
  name: string;
  className: string;
  path: string;
  properties: Record<string, unknown>;
  attributes: Record<string, unknown>;
  childCount: number;
  children?: DataModelInstance[];
  /** Something had to be left out; for an array of millions `childCount` is then that of its beginning. */
  truncated?: true;
}

export type Failure = { success: false; code: string; error: string };
export type RunAnswer = { success: true; value?: unknown; valueType: string } | Failure;
export type QueryAnswer = { success: true; instance: DataModelInstance } | Failure;

export type SandboxRequest = { kind: "run"; script: string } | { kind: "query"; query: DataModelQuery };
export type SandboxMessage =
  | { kind: "ready" }
  | { kind: "log"; entry: LogEntry }
  | { kind: "answer"; answer: RunAnswer | QueryAnswer };

/** The first and only message on the thread's public port. */
export interface SandboxStart {
  port: MessagePort;
  gauge: Int32Array;
}

/**
 * Two numbers that both threads see. `logsWaiting` is the cost of what was logged and not yet let go: it makes a thread
 * that logs without end wait, or it would fill the memory of everybody between it and the reader.
 * `call` settles who owns a request: the thread that starts it or the plugin that takes it back, never both.
 */
export const GAUGE = { logsWaiting: 0, call: 1 } as const;
export const CALL = { offered: 0, started: 1, withdrawn: 2 } as const;
export const MAX_LOGS_WAITING = 256 * 1024;
export const logCost = (entry: LogEntry): number => 256 + entry.body.length;

export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
export const MAX_DEPTH = 8;
