// How does a client's request reach what else the host offers, and how does the answer come back?
import type { AgentRequest, SessionRecord } from "../protocol/agents.ts";
import { Fault, hostLeaves, messageOf } from "../protocol/fault.ts";
import type { IdleLimits } from "../protocol/settings.ts";
import type { Client } from "./client-link.ts";

/** What else a host offers to its clients: agents. */
export interface HostService {
  asked(client: ServiceClient, request: AgentRequest): Promise<unknown>;
  acknowledged(clientId: string, session: string, seq: number): void;
  left(clientId: string): void;
  /** How many of its things a host must not leave alone. */
  company?(): number;
  /** The next host may begin when this is done; `handsOver`: somebody stands in line. */
  leave?(handsOver: boolean): Promise<void>;
  /** Returns what could not be ended, and why. */
  endAgents?(): Promise<string[]>;
}

/** What such a service must know of its host. */
export interface ServiceNeeds {
  idleLimits(): IdleLimits;
  companyChanged(): void;
  /** A newer host has what this one had: it must go. */
  fenced(): void;
}

export interface ServiceClient {
  clientId: string;
  events(session: string, events: SessionRecord[], notice?: string): void;
}

export async function askService(
  service: HostService | "closing" | undefined,
  client: Client,
  requestId: string,
  request: AgentRequest,
): Promise<void> {
  const events = (session: string, records: SessionRecord[], notice?: string) =>
    client.send({ type: "agent-events", session, events: records, ...(notice === undefined ? {} : { notice }) });
  try {
    if (service === "closing") throw hostLeaves();
    if (!service) throw new Fault("REFUSED", "This host runs no agents; it was started by a program of somebody's own");
    const result = await service.asked({ clientId: client.clientId, events }, request);
    client.send({ type: "agent-response", requestId, result });
  } catch (thrown) {
    const { code, data } = thrown instanceof Fault ? thrown : { code: "INTERNAL", data: {} };
    client.send({ type: "agent-response", requestId, error: { code, message: messageOf(thrown), data } });
  }
}
