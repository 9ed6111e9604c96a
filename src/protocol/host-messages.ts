// What does the host say to clients on `/client`? Types are read off these; programs check by `host-frames.ts`.
import { z } from "zod";
import { SessionRecord } from "./agents.ts";
import { Context } from "./plugin.ts";

const requestId = z.string().min(1);

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
  z.looseObject({
    type: z.literal("host-stop-response"),
    requestId,
    pid: z.number(),
    standing: z.number(),
    left: z.array(z.string()).optional(),
  }),
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
