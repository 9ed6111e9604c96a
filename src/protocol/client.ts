// What do clients say to the host on `/client`? Unknown types are ignored by both sides.
import { z } from "zod";
import { AgentRequest } from "./agents.ts";
import {
  isFlag,
  isNumber,
  isOneOf,
  isRecord,
  isSomeText,
  isText,
  isTextRecord,
  optional,
  shape,
  wholeFrom,
} from "./guards.ts";
import { POLICIES, SESSION_NAME } from "./vocabulary.ts";

const requestId = z.string().min(1);

/** Before anything else: a nonce, and nothing but a nonce. */
export const ClientChallenge = z.object({ type: z.literal("client-challenge"), nonce: z.string().min(16).max(256) });

export const ClientHello = z.object({
  type: z.literal("client-hello"),
  proof: z.string(),
  version: z.string(),
  protocolVersion: z.number(),
  standing: z.boolean(),
  pid: z.number().optional(),
});
export type ClientHello = z.infer<typeof ClientHello>;

export const Action = z.looseObject({
  type: z.string().min(1),
  sessionId: z.string().optional(),
  requestId: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
});
export type Action = z.infer<typeof Action>;

export const HostEnvelope = z.object({
  type: z.literal("host-envelope"),
  requestId,
  targetSessionId: z.string(),
  action: Action,
  timeoutMs: z.number().positive().optional(),
});
export type HostEnvelope = z.infer<typeof HostEnvelope>;

/** The schema above by hand, for the one message that comes by the thousand: nothing passes here that fails there. */
export function isHostEnvelope(frame: Record<string, unknown>): frame is HostEnvelope {
  const { type, requestId, targetSessionId, action, timeoutMs } = frame;
  if (type !== "host-envelope" || !isSomeText(requestId) || !isText(targetSessionId) || !isRecord(action)) return false;
  const { sessionId, requestId: own } = action;
  if (!isSomeText(action["type"]) || !isRecord(action["payload"])) return false;
  if ((sessionId !== undefined && !isText(sessionId)) || (own !== undefined && !isText(own))) return false;
  return timeoutMs === undefined || (Number.isFinite(timeoutMs) && Number(timeoutMs) > 0);
}

/** Likewise what whoever comes back after a takeover says first: a schema's first use takes longer than all of it. */
export const isClientChallenge = shape<z.infer<typeof ClientChallenge>>({
  type: isOneOf("client-challenge"),
  nonce: (value): value is string => isText(value) && value.length >= 16 && value.length <= 256,
});
export const isClientHello = shape<ClientHello>({
  type: isOneOf("client-hello"),
  proof: isText,
  version: isText,
  protocolVersion: isNumber,
  standing: isFlag,
  pid: optional(isNumber),
});
const isSessionName = (value: unknown): value is string => isText(value) && SESSION_NAME.pattern.test(value);
type Request<Verb extends AgentRequest["verb"]> = Extract<AgentRequest, { verb: Verb }>;
const isAttach = shape<Request<"attach">>({ verb: isOneOf("attach"), session: isSessionName, after: wholeFrom(0) });
const isClose = shape<Request<"close">>({ verb: isOneOf("close"), session: isSessionName });
const isPrompt = shape<Request<"prompt">>({
  verb: isOneOf("prompt"),
  agent: isSomeText,
  session: optional(isSessionName),
  cwd: (value): value is string => isText(value) && value.startsWith("/"),
  text: isText,
  policy: isOneOf(...POLICIES),
  promptId: (value): value is string => isText(value) && value.length >= 8,
  detach: isFlag,
  attach: optional(isFlag),
  closes: optional(isFlag),
  env: isTextRecord,
});
const isListSessions = shape<Extract<ClientMessage, { type: "list-sessions" }>>({
  type: isOneOf("list-sessions"),
  requestId: isSomeText,
});
const isAgentAck = shape<Extract<ClientMessage, { type: "agent-ack" }>>({
  type: isOneOf("agent-ack"),
  requestId: isSomeText,
  session: isText,
  seq: isNumber,
});
const isUsualRequest = shape<{ type: "agent-request"; requestId: string; request: AgentRequest }>({
  type: isOneOf("agent-request"),
  requestId: isSomeText,
  request: (value): value is AgentRequest => isAttach(value) || isPrompt(value) || isClose(value),
});
export const isUsualMessage = (frame: Record<string, unknown>): frame is ClientMessage =>
  isHostEnvelope(frame) || isAgentAck(frame) || isListSessions(frame) || isUsualRequest(frame);

export const ClientMessage = z.discriminatedUnion("type", [
  HostEnvelope,
  z.object({ type: z.literal("list-sessions"), requestId }),
  z.object({ type: z.literal("list-instances"), requestId }),
  z.object({ type: z.literal("host-status"), requestId }),
  /** With `agents` none of them is left working. */
  z.object({ type: z.literal("host-stop"), requestId, agents: z.boolean().optional() }),
  z.object({ type: z.literal("agent-request"), requestId, request: AgentRequest }),
  /** How far this client has got: more may be sent. */
  z.object({ type: z.literal("agent-ack"), requestId, session: z.string(), seq: z.number() }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;
