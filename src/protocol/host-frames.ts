// Which messages of a host need no schema? Those that every command of agents gets: nothing passes here that fails there.
import type { SessionRecord } from "./agents.ts";
import type { HostHello, HostMessage } from "./client.ts";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

export const isHostHello = (frame: unknown): frame is HostHello =>
  isFields(frame) &&
  frame["type"] === "host-hello" &&
  isText(frame["nonce"]) &&
  isText(frame["proof"]) &&
  isText(frame["version"]) &&
  isNumber(frame["protocolVersion"]) &&
  isNumber(frame["pid"]);

const isSessionRecord = (value: unknown): value is SessionRecord =>
  isFields(value) &&
  isCount(value["seq"]) &&
  (value["from"] === undefined || isCount(value["from"])) &&
  isText(value["at"]) &&
  isText(value["type"]) &&
  isFields(value["data"]);

const isError = (value: unknown): boolean =>
  isFields(value) && isText(value["code"]) && isText(value["message"]) && isFields(value["data"]);

export function isPlainHostMessage(frame: Fields): frame is HostMessage {
  const { type, requestId } = frame;
  const answers = typeof requestId === "string" && requestId !== "";
  if (type === "agent-response") return answers && (frame["error"] === undefined || isError(frame["error"]));
  if (type === "agent-events")
    return isText(frame["session"]) && Array.isArray(frame["events"]) && frame["events"].every(isSessionRecord);
  if (type === "list-sessions-response")
    return answers && Array.isArray(frame["sessions"]) && frame["sessions"].length === 0;
  return type === "host-transfer" || type === "host-ready";
}
