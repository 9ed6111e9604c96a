// How does a prompt get to a host? Under one id, however often it is sent; and if it was not, that is said.
import type { BridgeConnection } from "../bridge/connection.ts";
import type { AgentRequest } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";
import { untilAnswered } from "./ask-again.ts";
import type { Context } from "./context.ts";
import { within } from "./time-limit.ts";

export const NOT_SENT = "No host was found, and the prompt was not sent";
export const MAYBE_SENT = "The host did not answer, and whether it has taken the prompt is unknown";

/** Without --timeout there is no end. */
export const inTime = <Answer>(
  context: Context,
  timeoutMs: number | undefined,
  leftMs: number,
  work: Promise<Answer>,
  what: string,
): Promise<Answer> =>
  timeoutMs === undefined ? work : within(context, leftMs, work, `${what} (--timeout ${timeoutMs} ms)`);

/** Asked again until it is taken, under the same id. Where no host is left it is said whether one may have it. */
export async function sendPrompt(
  context: Context,
  connection: BridgeConnection,
  request: AgentRequest,
): Promise<unknown> {
  let mayHaveIt = false;
  const send = async (): Promise<unknown> => {
    const isSent = connection.isConnected;
    try {
      return await connection.askAgents(request);
    } catch (thrown) {
      // Refused by one that leaves, it was not taken; lost on its way, it may have been.
      mayHaveIt ||= isSent && !connection.isConnected;
      throw thrown;
    }
  };
  return await untilAnswered(context, connection, send).catch((thrown) => {
    if (!(thrown instanceof Fault) || !connection.ended) throw thrown;
    if (mayHaveIt) throw lostHost(thrown);
    throw new Fault("HOST_UNREACHABLE", `${thrown.message}; the prompt was not sent`, thrown.data, { cause: thrown });
  });
}

export const lostHost = (cause: Fault): Fault =>
  new Fault(
    "AGENT_LOST",
    `The host was lost, and no other came (${cause.message}); the outcome is unknown`,
    {},
    { cause },
  );
