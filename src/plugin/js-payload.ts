// Is a request's payload what the action needs? Each mistake is told with the name of its field.
import { Fault } from "../protocol/fault.ts";
import { isFlag, isOneOf, isRecord, isText, listOf } from "../protocol/guards.ts";
import { LOG_LEVELS } from "../protocol/vocabulary.ts";
import type { LogQuery } from "./log-buffer.ts";
import { type DataModelQuery, MAX_DEPTH } from "./sandbox-wire.ts";

export type Payload = Record<string, unknown>;

function invalid(field: string, wanted: string): never {
  throw new Fault("INVALID_PAYLOAD", `Field "${field}" must be ${wanted}`, { field });
}

const isTexts = listOf(isText);
const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

/** Absent and null are the same: not every plugin language tells them apart. */
function optional<Value>(
  payload: Payload,
  field: string,
  fits: (value: unknown) => value is Value,
  wanted: string,
  label = field,
): Value | undefined {
  const value = payload[field] ?? undefined;
  return value === undefined || fits(value) ? value : invalid(label, wanted);
}

export const scriptOf = (payload: Payload): string =>
  optional(payload, "script", isText, "a string") ??
  optional(payload, "code", isText, "a string") ??
  invalid("script", "a string");

export function eventsOf(payload: Payload): string[] {
  return optional(payload, "events", isTexts, "an array of strings") ?? invalid("events", "an array of strings");
}

export function logQueryOf(payload: Payload): LogQuery {
  const isCount = (value: unknown): value is number => isWhole(value, 0, Number.MAX_SAFE_INTEGER);
  const isDirection = (value: unknown): value is "head" | "tail" => value === "head" || value === "tail";
  return {
    count: optional(payload, "count", isCount, "a whole number from 0 on"),
    direction: optional(payload, "direction", isDirection, '"head" or "tail"'),
    levels: optional(payload, "levels", listOf(isOneOf(...LOG_LEVELS)), `an array of ${LOG_LEVELS.join(", ")}`),
  };
}

export function dataModelQueryOf(payload: Payload): DataModelQuery {
  const isDepth = (value: unknown): value is number => isWhole(value, 0, MAX_DEPTH);
  const find = optional(payload, "find", isRecord, "an object with a name");
  const listServices = optional(payload, "listServices", isFlag, "true or false");
  const path = optional(payload, "path", isText, "a string");
  if (path === undefined && !listServices) invalid("path", 'a string, "" for all globals');
  return {
    path: path ?? "",
    depth: optional(payload, "depth", isDepth, `a whole number from 0 to ${MAX_DEPTH}`),
    properties: optional(payload, "properties", isTexts, "an array of strings"),
    listServices,
    find: find && {
      name: optional(find, "name", isText, "a string", "find.name") ?? invalid("find.name", "a string"),
      recursive: optional(find, "recursive", isFlag, "true or false", "find.recursive"),
    },
  };
}
