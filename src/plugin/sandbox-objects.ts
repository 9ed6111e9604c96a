// What is in an object of the sandbox? Objects and functions in it are children, all else is a property.
// Getters and proxies are named but never called; depth, children, bytes and steps are bounded.
import { types } from "node:util";
import { propertyOf, type Resolved } from "./sandbox-globals.ts";
import { joinPath } from "./sandbox-path.ts";
import { classNameOf, clip, isObject, serialize } from "./sandbox-values.ts";
import { type DataModelInstance, MAX_ANSWER_BYTES } from "./sandbox-wire.ts";

const MAX_LISTED = 1000;
/** Longer arrays are walked by index, since to name each of their keys takes seconds. */
const LONG_ARRAY = 10_000;
/** Of an array that was asked for, and of one somewhere in it. */
const MAX_COUNTED = 2_000_000;
const MAX_COUNTED_INSIDE = 200_000;
const MAX_STEPS = 4_000_000;
const GETTER = { type: "Unsupported", typeName: "getter", toString: "[Getter]" };

export interface Place {
  name: string;
  path: string;
  value: unknown;
}

export interface Walk {
  bytesLeft: number;
  stepsLeft: number;
  filter: ReadonlySet<string> | undefined;
}

export const startWalk = (properties?: readonly string[]): Walk => ({
  bytesLeft: MAX_ANSWER_BYTES,
  stepsLeft: MAX_STEPS,
  filter: properties && new Set(properties),
});

export type Member = [key: string, found: Resolved];

function* keysOf(value: object, most: number): Iterable<string> {
  if (types.isProxy(value)) return;
  if (types.isTypedArray(value)) {
    for (let index = 0; index < Math.min(value.length, MAX_LISTED + 1); index += 1) yield String(index);
  } else if (Array.isArray(value) && value.length > LONG_ARRAY) {
    yield "length";
    for (let index = 0; index < Math.min(value.length, most); index += 1) yield String(index);
  } else yield* typeof value === "function" ? Object.keys(value) : Object.getOwnPropertyNames(value);
}

export function* membersOf(value: unknown, most = MAX_COUNTED_INSIDE): Iterable<Member> {
  if (isObject(value)) for (const key of keysOf(value, most)) yield [key, propertyOf(value, key)];
  else yield ["value", { kind: "value", value }];
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 2;
const headBytes = ({ name, path }: Place): number => 300 + bytesOf(name) + bytesOf(path);

export function describePlace(
  place: Place,
  depth: number,
  walk: Walk,
  ancestors: readonly unknown[] = [],
  members?: Iterable<Member>,
): DataModelInstance {
  const { name, path, value } = place;
  const properties: Record<string, unknown> = Object.create(null);
  const children: Place[] = [];
  let childCount = 0;
  let propertyCount = 0;
  walk.bytesLeft -= headBytes(place);
  const most = ancestors.length === 0 ? MAX_COUNTED : MAX_COUNTED_INSIDE;
  let truncated = Array.isArray(value) && value.length > most;

  for (const [key, found] of members ?? membersOf(value, most)) {
    walk.stepsLeft -= 1;
    if (found.kind === "value" && isObject(found.value)) {
      childCount += 1;
      if (depth > 0 && children.length === MAX_LISTED) truncated = true;
      else if (depth > 0) children.push({ name: key, path: joinPath(path, key), value: found.value });
    } else if (found.kind !== "missing" && (walk.filter?.has(key) ?? true)) {
      const property = found.kind === "getter" ? GETTER : serialize(found.value);
      const bytes = propertyCount < MAX_LISTED ? bytesOf(key) + bytesOf(property) : Number.POSITIVE_INFINITY;
      if (bytes > walk.bytesLeft) truncated = true;
      else {
        walk.bytesLeft -= bytes;
        propertyCount += 1;
        properties[key] = property;
      }
    }
  }

  const instance: DataModelInstance = {
    name,
    className: clip(classNameOf(value), 100),
    path: path || "globalThis",
    properties,
    attributes: {},
    childCount,
  };
  if (depth > 0 && !ancestors.includes(value)) {
    const listed: DataModelInstance[] = [];
    for (const child of children) {
      if (walk.stepsLeft <= 0 || headBytes(child) > walk.bytesLeft) truncated = true;
      else listed.push(describePlace(child, depth - 1, walk, [...ancestors, value]));
    }
    instance.children = listed;
  }
  if (truncated) instance.truncated = true;
  return instance;
}
