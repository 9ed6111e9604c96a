// What do plugins and the host say to each other? One JSON object per text frame; unknown fields survive.
import { z } from "zod";
import { CONTEXTS, LOG_LEVELS, MOST_NAME_LETTERS } from "./vocabulary.ts";

export const Context = z.enum(CONTEXTS);
export type Context = z.infer<typeof Context>;

const Name = z.string().max(MOST_NAME_LETTERS);
const MOST_CAPABILITIES = 256;
const isCapability = (item: unknown): item is string => typeof item === "string" && item.length <= 256;

/** The least every frame on `/plugin` must have. */
export const PluginFrame = z.looseObject({
  type: z.string(),
  sessionId: Name,
  payload: z.record(z.string(), z.unknown()),
  requestId: z.string().optional(),
  protocolVersion: z.number().optional(),
});
export type PluginFrame = z.infer<typeof PluginFrame>;

export const Register = z.looseObject({
  pluginVersion: Name,
  instanceId: Name.min(1),
  placeName: Name,
  state: Name,
  capabilities: z.array(z.unknown()).transform((items) => items.filter(isCapability).slice(0, MOST_CAPABILITIES)),
  context: Context.optional().catch(undefined),
  placeId: z.number().optional().catch(undefined),
  gameId: z.number().optional().catch(undefined),
  placeFile: Name.optional().catch(undefined),
  pid: z.number().optional().catch(undefined),
});
export type Register = z.infer<typeof Register>;

/** The older greeting: a session id and little else. */
export const Hello = z.looseObject({
  capabilities: Register.shape.capabilities.optional(),
  pluginVersion: Name.optional(),
});

export const StateChange = z.looseObject({ newState: Name, previousState: z.string().optional() });

export const LogLevel = z.enum(LOG_LEVELS);
export type LogLevel = z.infer<typeof LogLevel>;
/** `timestamp` is in epoch seconds with a fraction, as existing plugins send it. */
export const LogEntry = z.looseObject({ level: z.string(), body: z.string(), timestamp: z.number() });
export type LogEntry = z.infer<typeof LogEntry>;

/** Asked by plugins of ours before they say anything else; the host proves that it knows the token. */
export const Challenge = z.looseObject({ nonce: z.string().min(16).max(256) });

export const PUSHES = new Set(["heartbeat", "stateChange", "logPush", "output"]);

/** Never a request, whatever id it carries; actions that a plugin was given answer `<name>Result`. */
export const isResult = (type: string): boolean =>
  type === "error" || type === "scriptComplete" || type.endsWith("Result");

/** What this host knows how to route; `welcome` tells a plugin which of its own are among them. */
export const CAPABILITIES = new Set([
  "execute",
  "queryState",
  "captureScreenshot",
  "queryDataModel",
  "queryLogs",
  "subscribe",
  "heartbeat",
  "registerAction",
  "syncActions",
]);

export const contextOf = (state: string): Context =>
  state === "Server" ? "server" : state === "Client" ? "client" : "edit";
