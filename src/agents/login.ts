// How does a person log in to an agent? By the agent's own way: over the wire, or in a terminal.
import type { AuthMethod } from "../protocol/acp.ts";
import type { LoginAnswer } from "../protocol/agents.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";

/** Somebody has to find the browser window. */
const LOGIN_MS = 300_000;

const isWire = ({ type }: AuthMethod): boolean => type === undefined || type === "agent";
const isTerminal = ({ type }: AuthMethod): boolean => type === "terminal";

export const describeMethods = (client: AcpClient | undefined): string =>
  (client?.initialized?.authMethods ?? []).map(({ id, name }) => `${id} (${name})`).join(", ");

export async function login(client: AcpClient, agent: string, wanted: string | undefined): Promise<LoginAnswer> {
  const methods = (client.initialized?.authMethods ?? []).filter((method) => isWire(method) || isTerminal(method));
  if (methods.length === 0) return { kind: "none" };
  const method = wanted === undefined ? methods[0] : methods.find(({ id }) => id === wanted);
  if (!method) {
    throw new Fault("USAGE", `${agent} has no login method "${wanted}"; it has: ${describeMethods(client)}`, { agent });
  }
  if (isTerminal(method)) {
    const args = Array.isArray(method["args"]) ? method["args"].map(String) : [];
    return { kind: "terminal", method: method.id, args, env: (method["env"] ?? {}) as Record<string, string> };
  }
  try {
    await client.authenticate(method.id, LOGIN_MS);
    return { kind: "done", method: method.id };
  } catch (thrown) {
    const message = `The login by "${method.id}" failed: ${messageOf(thrown)}; it offers: ${describeMethods(client)}`;
    throw new Fault("NOT_PERMITTED", message, { agent }, { cause: thrown });
  }
}
