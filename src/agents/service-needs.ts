// What does the service need of its host, and what may be asked of it?
import type { PruneLimits } from "../core/prune.ts";
import type { Generation } from "../platform/agent-world.ts";
import type { AgentRequest, AgentSessionInfo } from "../protocol/agents.ts";
import type { IdleLimits } from "../protocol/settings.ts";
import type { LauncherWorld } from "./launcher.ts";
import type { ForgetConversation } from "./shelf.ts";
import type { ServiceClient } from "./verbs.ts";

export interface AgentServiceDeps extends LauncherWorld {
  idleLimits(): IdleLimits;
  /** `company` may be another. */
  companyChanged(): void;
  /** A newer host has its agents: it must go. */
  fenced?(): void;
  /** Room on the disk where everything is kept. */
  freeBytes?(): number;
  generation: Generation;
  /** What an agent of ours kept of a conversation itself goes with its journal. */
  forget?: ForgetConversation;
  /** How long journals are kept. */
  retention?: PruneLimits;
}

export interface AgentService {
  asked(client: ServiceClient, request: AgentRequest): Promise<unknown>;
  acknowledged(clientId: string, session: string, seq: number): void;
  left(clientId: string): void;
  infos(): AgentSessionInfo[];
  /** How many agents are attached to, working or kept. */
  company(): number;
  /** Ends every agent, working or not; returns what could not be ended, and why. */
  endAgents(): Promise<string[]>;
  /** Adopts, writes and asks nothing any more when this is done: the next host may begin. */
  leave(handsOver: boolean): Promise<void>;
  /** Ends the agents that nothing keeps, unless somebody was there to take them over. */
  end(): Promise<void>;
}
