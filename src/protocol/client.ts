// What do clients and the host say to each other on `/client`? Unknown types are ignored by both sides.
import { z } from "zod";
import { AgentRequest, SessionRecord } from "./agents.ts";
import { isFlag, isNumber, isOneOf, isRecord, isSomeText, isText, optional, shape, wholeFrom } from "./guards.ts";
import { Context } from "./plugin.ts";
import { SESSION_NAME } from "./vocabulary.ts";

export const SessionInfo = z.looseObject({
  sessionId: z.string(),
  instanceId: z.string(),
  context: Context,
  placeName: z.string(),
  placeFile: z.string().optional(),
  placeId: z.number(),
  gameId: z.number(),
  state: z.string(),
  pluginVersion: z.string(),
  capabilities: z.array(z.string()),
  connectedAt: z.string(),
  origin: z.string(),
  stale: z.boolean().optional(),
});
export type SessionInfo = z.infer<typeof SessionInfo>;

export const InstanceInfo = z.looseObject({
  instanceId: z.string(),
  placeName: z.string(),
  placeId: z.number(),
  gameId: z.number(),
  contexts: z.array(Context),
  origin: z.string(),
});
export type InstanceInfo = z.infer<typeof InstanceInfo>;

export const HostStatus = z.looseObject({
  port: z.number(),
  pid: z.number(),
  version: z.string(),
  startedAt: z.string(),
  hostSince: z.string(),
  lastFailoverAt: z.string().nullable(),
  background: z.boolean(),
  auth: z.string(),
  pluginToken: z.boolean(),
  addresses: z.array(z.looseObject({ address: z.string(), listening: z.boolean(), note: z.string().optional() })),
  clients: z.array(
    z.looseObject({
      clientId: z.string(),
      pid: z.number().nullable(),
      standing: z.boolean(),
      rank: z.number().nullable(),
    }),
  ),
  sessions: z.array(SessionInfo),
  malformedFrames: z.number(),
  logFile: z.string().nullable(),
  endsWhenIdle: z.string().nullable(),
});
export type HostStatus = z.infer<typeof HostStatus>;

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
const isAttach = shape<Extract<AgentRequest, { verb: "attach" }>>({
  verb: isOneOf("attach"),
  session: (value): value is string => isText(value) && SESSION_NAME.pattern.test(value),
  after: wholeFrom(0),
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
const isAttachRequest = shape<{ type: "agent-request"; requestId: string; request: AgentRequest }>({
  type: isOneOf("agent-request"),
  requestId: isSomeText,
  request: isAttach,
});
export const isUsualMessage = (frame: Record<string, unknown>): frame is ClientMessage =>
  isHostEnvelope(frame) || isAgentAck(frame) || isListSessions(frame) || isAttachRequest(frame);

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

/** A plugin's message, or `{type:"error", payload:{code, message}}`. */
export const Result = z.looseObject({ type: z.string(), payload: z.record(z.string(), z.unknown()) });
export type Result = z.infer<typeof Result>;

export const HostHello = z.looseObject({
  type: z.literal("host-hello"),
  nonce: z.string(),
  proof: z.string(),
  version: z.string(),
  protocolVersion: z.number(),
  pid: z.number(),
});
export type HostHello = z.infer<typeof HostHello>;

export const SessionEvent = z.looseObject({
  type: z.literal("session-event"),
  event: z.enum(["connected", "disconnected", "state-changed"]),
  sessionId: z.string(),
  context: Context,
  instanceId: z.string(),
  session: SessionInfo.optional(),
});
export type SessionEvent = z.infer<typeof SessionEvent>;

export const HostMessage = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("list-sessions-response"), requestId, sessions: z.array(SessionInfo) }),
  z.looseObject({ type: z.literal("list-instances-response"), requestId, instances: z.array(InstanceInfo) }),
  z.looseObject({ type: z.literal("host-status-response"), requestId, status: HostStatus }),
  z.looseObject({ type: z.literal("host-stop-response"), requestId, pid: z.number(), standing: z.number() }),
  z.looseObject({ type: z.literal("host-response"), requestId, result: Result }),
  SessionEvent,
  z.looseObject({ type: z.literal("plugin-push"), sessionId: z.string(), message: Result }),
  z.looseObject({
    type: z.literal("agent-response"),
    requestId,
    result: z.unknown().optional(),
    error: z.object({ code: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) }).optional(),
  }),
  z.looseObject({
    type: z.literal("agent-events"),
    session: z.string(),
    events: z.array(SessionRecord),
    /** For people: why nothing comes, or that it goes on. It has no number and is not kept. */
    notice: z.string().optional(),
  }),
  z.looseObject({ type: z.literal("succession"), rank: z.number().int().nonnegative() }),
  /** To those who do not: how many stand in line. */
  z.looseObject({ type: z.literal("in-line"), standing: z.number().int().nonnegative() }),
  z.looseObject({ type: z.literal("host-transfer") }),
  z.looseObject({ type: z.literal("host-ready") }),
]);
export type HostMessage = z.infer<typeof HostMessage>;
