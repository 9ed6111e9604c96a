// Why has a turn no result? In the words and with the code that a client needs.
import type { SessionFold } from "../core/session-fold.ts";
import { RPC } from "../protocol/acp.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { RpcFailure } from "../rpc/json-rpc.ts";
import type { AcpClient } from "./acp-client.ts";
import { describeMethods } from "./login.ts";
import type { SessionOptions } from "./session-needs.ts";

/** Of a turn that had not begun: whatever was lost, the prompt was not. */
export function neverSent(failure: Record<string, unknown>): Record<string, unknown> {
  const { code, message } = failure as { code: string; message: string };
  if (code === "AGENT_LOST")
    return { stopReason: "error", code: "AGENT_FAILED", message: message.replace(UNKNOWN, NOT_SENT) };
  // The host leaves, and this is on record: nobody is to ask for it again.
  if (code === "SESSION_DISCONNECTED")
    return { stopReason: "error", code: "REFUSED", message: `The host is shutting down${NOT_SENT}` };
  return failure;
}

const UNKNOWN = "; the outcome is unknown";
const NOT_SENT = "; the prompt was not sent";

export function turnFailure(failure: unknown, options: SessionOptions, client?: AcpClient): Record<string, unknown> {
  const thrown = orLogin(failure, options, client);
  if (thrown instanceof Fault && thrown.code === "AGENT_LOST") {
    return { stopReason: "lost", code: thrown.code, message: `${thrown.message}${UNKNOWN}` };
  }
  const code = thrown instanceof Fault ? thrown.code : "AGENT_FAILED";
  return { stopReason: "error", code, message: messageOf(thrown) };
}

/** The agent does not know this session any more, as when its inner process died: it has not run the prompt. */
export const isForgotten = (thrown: unknown): thrown is RpcFailure =>
  thrown instanceof RpcFailure && thrown.code === RPC.notFound;

/** Nothing was done in its turn, and it was not sent a second time already. */
export const isUntouched = ({ started, again }: Readonly<SessionFold>, promptId: string): boolean =>
  started?.promptId === promptId && !started.spoke && again !== promptId;

export const forgottenBy = ({ displayName }: SessionOptions, { message: why }: RpcFailure): { message: string } => ({
  message: `${displayName} no longer knows this session (${why}); it is restored, and the prompt is sent once more`,
});

/** What was thrown, unless the agent wants a login: then what a person needs to know of it. */
export function orLogin(thrown: unknown, { displayName, agent }: SessionOptions, client?: AcpClient): unknown {
  if (!(thrown instanceof RpcFailure) || thrown.code !== RPC.authRequired) return thrown;
  const ways = describeMethods(client);
  const offers = ways === "" ? "" : `; it offers: ${ways}`;
  const message = `${displayName} needs a login (${thrown.message})${offers}; run: holdfast login ${agent}`;
  return new Fault("NOT_PERMITTED", message, { agent }, { cause: thrown });
}
