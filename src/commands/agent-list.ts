// What does a host know of agents? Hosts of other programs know nothing of them, and that is no fault here.
import type { BridgeConnection } from "../bridge/connection.ts";
import { isAgentInfo, isAgentSessionInfo, isShelvedSession } from "../protocol/agent-answers.ts";
import type { AgentInfo, AgentSessionInfo, ShelvedSession } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";
import { type Guard, listOf } from "../protocol/guards.ts";

const none = (thrown: unknown): unknown[] => {
  if (thrown instanceof Fault && thrown.code === "REFUSED") return [];
  throw thrown;
};

export function understood<Answer>(fits: Guard<Answer>, answer: unknown): Answer {
  if (fits(answer)) return answer;
  throw new Error(`The host's answer is none that this version knows: ${JSON.stringify(answer)?.slice(0, 200)}`);
}

export const listAgentSessions = async (connection: BridgeConnection): Promise<AgentSessionInfo[]> =>
  understood(listOf(isAgentSessionInfo), await connection.askAgents({ verb: "sessions" }).catch(none));

/** The newest first. */
export const listShelf = async (connection: BridgeConnection, limit: number): Promise<ShelvedSession[]> =>
  understood(listOf(isShelvedSession), await connection.askAgents({ verb: "shelf", limit }).catch(none));

export const listAgents = async (connection: BridgeConnection, path: string): Promise<AgentInfo[]> =>
  understood(listOf(isAgentInfo), await connection.askAgents({ verb: "agents", env: { PATH: path } }).catch(none));

const TURNS = { idle: "idle", running: "works", waiting: "waits for an answer" } as const;

export const describeTurn = ({ turn, queued }: AgentSessionInfo): string =>
  queued > 0 ? `${TURNS[turn]}, ${queued} queued` : TURNS[turn];
