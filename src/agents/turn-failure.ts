// Why has a turn no result? In the words and with the code that a client needs.
import { RPC } from "../protocol/acp.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { RpcFailure } from "../rpc/json-rpc.ts";
import type { SessionOptions } from "./session.ts";

export function turnFailure(thrown: unknown, options: SessionOptions): Record<string, unknown> {
  if (thrown instanceof Fault && thrown.code === "AGENT_LOST") {
    return { stopReason: "lost", code: thrown.code, message: `${thrown.message}; the outcome is unknown` };
  }
  if (thrown instanceof RpcFailure && thrown.code === RPC.authRequired) {
    return { stopReason: "error", code: "NOT_PERMITTED", message: needsLogin(options, thrown.message) };
  }
  const code = thrown instanceof Fault ? thrown.code : "AGENT_FAILED";
  return { stopReason: "error", code, message: messageOf(thrown) };
}

export const needsLogin = (
  { displayName, agent }: Pick<SessionOptions, "displayName" | "agent">,
  why: string,
): string => `${displayName} needs a login (${why}); run: holdfast login ${agent}`;
