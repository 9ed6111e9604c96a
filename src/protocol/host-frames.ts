// Is this what a host says on `/client`? The schemas of `client.ts` by hand, for processes that come and go.
import type { SessionRecord } from "./agents.ts";
import {
  type Guard,
  isAnything,
  isFlag,
  isNumber,
  isOneOf,
  isRecord,
  isSomeText,
  isText,
  listOf,
  nullable,
  optional,
  shape,
  wholeFrom,
} from "./guards.ts";
import type { Health } from "./health.ts";
import type { HostHello, HostMessage, HostStatus, InstanceInfo, Result, SessionInfo } from "./host-messages.ts";
import { CONTEXTS } from "./vocabulary.ts";

const isContext = isOneOf(...CONTEXTS);

const isSessionInfo = shape<SessionInfo>({
  sessionId: isText,
  instanceId: isText,
  context: isContext,
  placeName: isText,
  placeFile: optional(isText),
  placeId: isNumber,
  gameId: isNumber,
  state: isText,
  pluginVersion: isText,
  capabilities: listOf(isText),
  connectedAt: isText,
  origin: isText,
  stale: optional(isFlag),
});

const isInstanceInfo = shape<InstanceInfo>({
  instanceId: isText,
  placeName: isText,
  placeId: isNumber,
  gameId: isNumber,
  contexts: listOf(isContext),
  origin: isText,
});

const isHostStatus = shape<HostStatus>({
  port: isNumber,
  pid: isNumber,
  version: isText,
  startedAt: isText,
  hostSince: isText,
  lastFailoverAt: nullable(isText),
  background: isFlag,
  auth: isText,
  pluginToken: isFlag,
  addresses: listOf(
    shape<HostStatus["addresses"][number]>({ address: isText, listening: isFlag, note: optional(isText) }),
  ),
  clients: listOf(
    shape<HostStatus["clients"][number]>({
      clientId: isText,
      pid: nullable(isNumber),
      standing: isFlag,
      rank: nullable(isNumber),
    }),
  ),
  sessions: listOf(isSessionInfo),
  malformedFrames: isNumber,
  logFile: nullable(isText),
  endsWhenIdle: nullable(isText),
});

const isResult = shape<Result>({ type: isText, payload: isRecord });

export const isSessionRecord = shape<SessionRecord>({
  seq: wholeFrom(1),
  from: optional(wholeFrom(1)),
  at: isText,
  type: isText,
  data: isRecord,
});

export const isHostHello = shape<HostHello>({
  type: isOneOf("host-hello"),
  nonce: isText,
  proof: isText,
  version: isText,
  protocolVersion: isNumber,
  pid: isNumber,
});

export const isHealth = shape<Health>({
  status: isOneOf("ok"),
  port: isNumber,
  sessions: isNumber,
  uptime: isNumber,
  hostUptime: isNumber,
  lastFailoverAt: nullable(isText),
  protocolVersion: optional(isNumber),
  serverVersion: optional(isText),
});

type MessageType = HostMessage["type"];
type Message<Type extends MessageType> = Extract<HostMessage, { type: Type }>;
type Fields<Type extends MessageType> = Omit<Parameters<typeof shape<Message<Type>>>[0], "type">;

const message = <Type extends MessageType>(type: Type, fields: Fields<Type>): Guard<Message<Type>> =>
  shape({ ...fields, type: isOneOf(type) } as unknown as Parameters<typeof shape<Message<Type>>>[0]);

const MESSAGES: { readonly [Type in MessageType]: Guard<Message<Type>> } = {
  "list-sessions-response": message("list-sessions-response", {
    requestId: isSomeText,
    sessions: listOf(isSessionInfo),
  }),
  "list-instances-response": message("list-instances-response", {
    requestId: isSomeText,
    instances: listOf(isInstanceInfo),
  }),
  "host-status-response": message("host-status-response", { requestId: isSomeText, status: isHostStatus }),
  "host-stop-response": message("host-stop-response", {
    requestId: isSomeText,
    pid: isNumber,
    standing: isNumber,
    left: optional(listOf(isText)),
  }),
  "host-response": message("host-response", { requestId: isSomeText, result: isResult }),
  "session-event": message("session-event", {
    event: isOneOf("connected", "disconnected", "state-changed"),
    sessionId: isText,
    context: isContext,
    instanceId: isText,
    session: optional(isSessionInfo),
  }),
  "plugin-push": message("plugin-push", { sessionId: isText, message: isResult }),
  "agent-response": message("agent-response", {
    requestId: isSomeText,
    result: isAnything,
    error: optional(
      shape<NonNullable<Message<"agent-response">["error"]>>({ code: isText, message: isText, data: isRecord }),
    ),
  }),
  "agent-events": message("agent-events", {
    session: isText,
    events: listOf(isSessionRecord),
    notice: optional(isText),
  }),
  "in-line": message("in-line", { standing: wholeFrom(0) }),
  succession: message("succession", { rank: wholeFrom(0) }),
  "host-transfer": message("host-transfer", {}),
  "host-ready": message("host-ready", {}),
};

/** Of a type that we do not know it is none: such messages are passed over. */
export const isHostMessage = (frame: unknown): frame is HostMessage =>
  isRecord(frame) &&
  typeof frame["type"] === "string" &&
  Object.hasOwn(MESSAGES, frame["type"]) &&
  MESSAGES[frame["type"] as MessageType](frame);
