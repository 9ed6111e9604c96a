// What is known of one agent? Its process, how it lives, and what it tells of itself.
import type { AgentLife, AgentStatus } from "../core/agent-life.ts";
import type { AgentExit, AgentProcess } from "../platform/agent-world.ts";
import type { Cancel, Clock } from "../platform/world.ts";
import type { AcpClient } from "./acp-client.ts";

export interface AgentEvents extends Record<string, unknown> {
  "agent:status": { cliType: string; status: AgentStatus };
  error: { cliType: string; message: string; detail?: string };
  /** The process behind this client is gone. */
  "agent:exited": { cliType: string; client: AcpClient; exit: AgentExit; detail: string };
  "agent:connected": { cliType: string; client: AcpClient };
}

export interface Started {
  process: AgentProcess;
  client: AcpClient;
}

export interface AgentManagerDeps {
  clock: Clock;
  displayName(name: string): string;
  /** Whether all that this agent said stands in the journals. */
  isWritten?(name: string): boolean;
  /** Starts the process and puts a client on its pipes; missing when its command is not installed. */
  start(name: string): ({ kind: "started" } & Started) | { kind: "missing"; install: string };
}

export interface Slot {
  life: AgentLife;
  current: Started | undefined;
  /** Connected or not yet. */
  newest: Started | undefined;
  starting: Promise<AcpClient> | undefined;
  /** It is another host's. */
  isReleased: boolean;
  /** An earlier host left one, and it has not answered yet. */
  coming: Promise<void> | undefined;
  cancelWait: Cancel;
  ending: Promise<void>;
  /** Fails the start that is under way. */
  giveUp(): void;
  /** Of the last process, dead or alive. */
  stderr(): readonly string[];
}

export const createSlot = (): Slot => ({
  life: { state: "idle" },
  current: undefined,
  newest: undefined,
  starting: undefined,
  isReleased: false,
  coming: undefined,
  cancelWait: () => {},
  ending: Promise.resolve(),
  giveUp: () => {},
  stderr: () => [],
});
