// What does a host know of agents? Hosts of other programs know nothing of them, and that is no fault here.
import type { BridgeConnection } from "../bridge/connection.ts";
import { AgentInfo, AgentSessionInfo, ShelvedSession } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";

const none = (thrown: unknown): unknown[] => {
  if (thrown instanceof Fault && thrown.code === "REFUSED") return [];
  throw thrown;
};

export const listAgentSessions = async (connection: BridgeConnection): Promise<AgentSessionInfo[]> =>
  AgentSessionInfo.array().parse(await connection.askAgents({ verb: "sessions" }).catch(none));

export const listShelf = async (connection: BridgeConnection): Promise<ShelvedSession[]> =>
  ShelvedSession.array().parse(await connection.askAgents({ verb: "shelf" }).catch(none));

export const listAgents = async (connection: BridgeConnection, path: string): Promise<AgentInfo[]> =>
  AgentInfo.array().parse(await connection.askAgents({ verb: "agents", env: { PATH: path } }).catch(none));

const TURNS = { idle: "idle", running: "works", waiting: "waits for an answer" } as const;

export const describeTurn = ({ turn, queued }: AgentSessionInfo): string =>
  queued > 0 ? `${TURNS[turn]}, ${queued} queued` : TURNS[turn];
