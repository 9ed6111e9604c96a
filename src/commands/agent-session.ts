// How does a command follow an agent session? By its cursor: from any number on, each event once, whoever hosts.
import type { BridgeConnection } from "../bridge/connection.ts";
import { createQueue } from "../bridge/queue.ts";
import type { AgentRequest, SessionRecord } from "../protocol/agents.ts";
import { Fault, type FaultCode, isFaultCode } from "../protocol/fault.ts";
import { SESSION_NAME } from "../protocol/vocabulary.ts";
import { text } from "../surface/argument.ts";
import type { Context } from "./context.ts";
import { noStartArg, openAsCommand } from "./plugin-session.ts";
import { timeLimitArg, within } from "./time-limit.ts";

const AGAIN_MS = 5;

/** Ends only with the caller, with a fault, or with the reason of `over`. */
export async function* followSession(
  connection: BridgeConnection,
  session: string,
  after: number,
  notice: (text: string) => void,
  over?: AbortSignal,
): AsyncGenerator<SessionRecord> {
  const queue = createQueue<SessionRecord>();
  over?.addEventListener("abort", () => queue.fail(over.reason), { once: true });
  let cursor = after;
  const attach = async (): Promise<void> => {
    try {
      await connection.askAgents({ verb: "attach", session, after: cursor });
    } catch (thrown) {
      // Lost again meanwhile: the next host is asked.
      if (!isLoss(thrown)) queue.fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };
  const stops = [
    connection.on("agent-events", (told) => {
      if (told.session !== session) return;
      if (told.notice !== undefined) notice(told.notice);
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

/** Its host went away, or is about to. */
const isLoss = (thrown: unknown): boolean => thrown instanceof Fault && thrown.code === "SESSION_DISCONNECTED";

/** For what may be asked twice without being done twice: whoever hosts next is asked again. */
export async function askUntilAnswered(
  { world }: Pick<Context, "world">,
  connection: BridgeConnection,
  request: AgentRequest,
): Promise<unknown> {
  for (;;) {
    try {
      return await connection.askAgents(request);
    } catch (thrown) {
      if (!isLoss(thrown)) throw thrown;
      do {
        if (connection.isOver) throw thrown;
        // Also where there is a connection: a host that is leaving still answers, and says so.
        await world.clock.sleep(AGAIN_MS);
      } while (!connection.isConnected);
    }
  }
}

const ENDS: Readonly<Record<string, [FaultCode, string]>> = {
  max_tokens: ["LIMIT_REACHED", "The agent has used up its tokens (max_tokens)"],
  max_turn_requests: ["LIMIT_REACHED", "The agent has used up its requests for one turn (max_turn_requests)"],
  refusal: ["REFUSED", "The agent refuses to go on"],
  cancelled: ["CANCELLED", "The turn was cancelled by another client"],
};

/** Throws unless the turn came to its own end. */
export function mustBeDone({ stopReason, code, message }: Record<string, unknown>): void {
  if (stopReason === "end_turn") return;
  if (typeof code === "string" && typeof message === "string") {
    throw new Fault(isFaultCode(code) ? code : "AGENT_FAILED", message);
  }
  const [known, text] = ENDS[String(stopReason)] ?? ["AGENT_FAILED", `The turn ended with "${stopReason}"`];
  throw new Fault(known, text, { stopReason });
}

export const sessionNameArg = text("The session, as holdfast sessions lists it", {
  ...SESSION_NAME,
  completes: "agent-session",
});

/** Arguments of those commands, besides what they ask for. */
export const onceArgs = { noStart: noStartArg, timeout: timeLimitArg };

interface OnceArgs {
  port: number;
  noStart: boolean;
  timeout: number;
}

/** For commands that ask one thing of agents and leave. */
export const askOnce = (context: Context, args: OnceArgs, request: AgentRequest): Promise<unknown> => {
  const ask = async () => {
    const connection = await openAsCommand(context, args);
    return await connection.askAgents(request, args.timeout);
  };
  return within(context, args.timeout, ask());
};
