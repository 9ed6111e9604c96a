// How does a command follow an agent session? By its cursor: from any number on, each event once, whoever hosts.
import type { BridgeConnection, ConnectionEvents } from "../bridge/connection.ts";
import { createQueue } from "../bridge/queue.ts";
import type { AgentRequest, SessionRecord } from "../protocol/agents.ts";
import { Fault, type FaultCode, isFaultCode } from "../protocol/fault.ts";
import { SESSION_NAME } from "../protocol/vocabulary.ts";
import { text } from "../surface/argument.ts";
import { isLoss, untilAnswered } from "./ask-again.ts";
import type { Context } from "./context.ts";
import { noStartArg, openAsCommand } from "./plugin-session.ts";
import { timeLimitArg, unlessOver, within } from "./time-limit.ts";

/** At the latest after so many events of one piece it is told how far we have got. */
const ACKNOWLEDGE_EVENTS = 256;

type Told = ConnectionEvents["agent-events"];

/** What comes before it is known which session is followed. */
export interface EarlyEvents {
  /** The host that answered now is the one whose events count. */
  answered(): void;
  /** Taken once; undefined when that host is gone. */
  take(): Told[] | undefined;
}

export function collectEarly(connection: BridgeConnection): EarlyEvents {
  let told: Told[] = [];
  let isAttached = false;
  const stops = [
    connection.on("agent-events", (events) => void told.push(events)),
    connection.on("host-lost", () => {
      told = [];
      isAttached = false;
    }),
  ];
  return {
    answered() {
      isAttached = true;
    },
    take() {
      for (const stop of stops) stop();
      return isAttached ? told : undefined;
    },
  };
}

/** Ends only with the caller, with a fault, or with the reason of `over`. With `early` its host has attached us already. */
export async function* followSession(
  connection: BridgeConnection,
  session: string,
  after: number,
  notice: (text: string) => void,
  over?: AbortSignal,
  early?: EarlyEvents,
): AsyncGenerator<SessionRecord> {
  const queue = createQueue<SessionRecord>();
  const ends = () => queue.fail(over?.reason);
  over?.addEventListener("abort", ends, { once: true });
  if (over?.aborted) ends();
  let cursor = after;
  let acknowledged = after;
  const attach = async (): Promise<void> => {
    try {
      await connection.askAgents({ verb: "attach", session, after: cursor });
    } catch (thrown) {
      // Lost again meanwhile: the next host is asked.
      if (!isLoss(thrown)) queue.fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };
  const hear = (told: Told): void => {
    if (told.session !== session) return;
    if (told.notice !== undefined) notice(told.notice);
    for (const event of told.events) {
      if (event.seq <= cursor) continue;
      cursor = event.seq;
      queue.push(event);
    }
  };
  const stops = [
    connection.on("agent-events", hear),
    connection.on("host-found", () => void attach()),
    connection.on("ended", ({ error }) => queue.fail(error ?? new Error("The connection was closed"))),
  ];
  if (connection.ended) queue.fail(connection.ended.error ?? new Error("The connection was closed"));
  try {
    const told = early?.take();
    if (told) for (const each of told) hear(each);
    else await (over ? unlessOver(over, attach()) : attach());
    for await (const event of queue.items()) {
      // However much still waits.
      over?.throwIfAborted();
      yield event;
      if (!queue.isEmpty && event.seq - acknowledged < ACKNOWLEDGE_EVENTS) continue;
      acknowledged = event.seq;
      connection.acknowledge(session, event.seq);
    }
  } finally {
    for (const stop of stops) stop();
    over?.removeEventListener("abort", ends);
  }
}

/** For what may be asked twice without being done twice: whoever hosts next is asked again. */
export const askUntilAnswered = (
  context: Pick<Context, "world">,
  connection: BridgeConnection,
  request: AgentRequest,
): Promise<unknown> => untilAnswered(context, connection, () => connection.askAgents(request));

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

/** For whoever relies on an agent that outlives its host, where there is none. */
export function noteMortal({ hasKeepers, printer }: Context): void {
  if (!hasKeepers) printer.note("On this platform agents end with their host", "yellow");
}

/** It need not know which plugins there are. */
export const openForAgents = (context: Context, args: { port: number; noStart: boolean }): Promise<BridgeConnection> =>
  openAsCommand(context, args, { listsSessions: false });

/** Arguments of those commands, besides what they ask for. */
export const onceArgs = { noStart: noStartArg, timeout: timeLimitArg };

interface OnceArgs {
  port: number;
  noStart: boolean;
  timeout: number;
}

/** For commands that ask one thing of agents and leave, and may ask it twice. */
export const askOnce = (context: Context, args: OnceArgs, request: AgentRequest): Promise<unknown> => {
  const ask = async () => await askUntilAnswered(context, await openForAgents(context, args), request);
  return within(context, args.timeout, ask());
};

/** For what would be done twice: whoever loses the host does not know what was done. */
export const askNotAgain = (context: Context, args: OnceArgs, request: AgentRequest): Promise<unknown> => {
  const ask = async () => await (await openForAgents(context, args)).askAgents(request, args.timeout);
  return within(context, args.timeout, ask());
};
