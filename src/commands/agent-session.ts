// How does a command follow an agent session? By its cursor: from any number on, each event once, whoever hosts.
import type { BridgeConnection } from "../bridge/connection.ts";
import { createQueue } from "../bridge/queue.ts";
import type { AgentRequest, SessionRecord } from "../protocol/agents.ts";
import { Fault, isFaultCode, SessionDisconnectedError } from "../protocol/fault.ts";
import type { Context } from "./context.ts";
import { openAsCommand } from "./plugin-session.ts";
import { within } from "./time-limit.ts";

/** Ends only with the caller, or with a fault. */
export async function* followSession(
  connection: BridgeConnection,
  session: string,
  after: number,
): AsyncGenerator<SessionRecord> {
  const queue = createQueue<SessionRecord>();
  let cursor = after;
  const attach = async (): Promise<void> => {
    try {
      await connection.askAgents({ verb: "attach", session, after: cursor });
    } catch (thrown) {
      // Lost again meanwhile: the next host is asked.
      if (!(thrown instanceof SessionDisconnectedError))
        queue.fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };
  const stops = [
    connection.on("agent-events", (told) => {
      if (told.session !== session) return;
      for (const event of told.events) {
        if (event.seq <= cursor) continue;
        cursor = event.seq;
        queue.push(event);
      }
    }),
    connection.on("host-found", () => void attach()),
    connection.on("ended", ({ error }) => queue.fail(error ?? new Error("The connection was closed"))),
  ];
  try {
    await attach();
    for await (const event of queue.items()) {
      yield event;
      connection.acknowledge(session, event.seq);
    }
  } finally {
    for (const stop of stops) stop();
  }
}

const STOP_CODES: Readonly<Record<string, number>> = { end_turn: 0, max_tokens: 9, max_turn_requests: 9 };

/** The exit code of a finished turn; what a person should know is thrown. */
export function exitOfTurn(data: Record<string, unknown>): number {
  const { stopReason, code, message } = data;
  if (typeof code === "string" && typeof message === "string") {
    throw new Fault(isFaultCode(code) ? code : "AGENT_FAILED", message);
  }
  return STOP_CODES[String(stopReason)] ?? 1;
}

/** For commands that ask one thing of agents and leave. */
export const askOnce = (context: Context, port: number, timeoutMs: number, request: AgentRequest): Promise<unknown> => {
  const ask = async () => {
    const connection = await openAsCommand(context, { port, noStart: false });
    return await connection.askAgents(request);
  };
  return within(context, timeoutMs, ask());
};
