// How is a fault of ours told to an editor? By the code that ACP has for it, with our own beside it.
import { Fault, type FaultCode, isFaultCode, messageOf } from "../../protocol/fault.ts";
import { RPC } from "../../protocol/json-rpc.ts";
import { RpcFailure } from "../../rpc/json-rpc.ts";

const CODES: Partial<Record<FaultCode, number>> = {
  NOT_PERMITTED: RPC.authRequired,
  SESSION_NOT_FOUND: RPC.notFound,
  USAGE: RPC.invalidParams,
  INVALID_PAYLOAD: RPC.invalidParams,
};

export const wrong = (message: string): RpcFailure => new RpcFailure({ code: RPC.invalidParams, message });

export const noSession = (sessionId: string): RpcFailure =>
  new RpcFailure({
    code: RPC.notFound,
    message: `There is no session "${sessionId}" here; session/list names them, session/load opens one`,
    data: { sessionId },
  });

export function rpcFailure(thrown: unknown): RpcFailure {
  if (thrown instanceof RpcFailure) return thrown;
  const { code, data } = thrown instanceof Fault ? thrown : { code: "INTERNAL", data: {} };
  const known = isFaultCode(code) ? CODES[code] : undefined;
  return new RpcFailure({ code: known ?? RPC.internal, message: messageOf(thrown), data: { ...data, code } });
}

/** How a turn ended: its result as the agent gave it, or thrown. */
export function turnResult({ code, message, ...end }: Record<string, unknown>): Record<string, unknown> {
  if (typeof message !== "string") return end;
  throw rpcFailure(new Fault(typeof code === "string" && isFaultCode(code) ? code : "AGENT_FAILED", message));
}
