// How does a JavaScript value look to somebody outside? Nothing here calls a getter or a proxy's trap.
import { inspect, types } from "node:util";
import { MAX_ANSWER_BYTES } from "./sandbox-wire.ts";

const MAX_TEXT = 1_000_000;
const MAX_NESTING = 100;
/** Small graphs can have endless trees: `a = [b, b]; b = [c, c]; …` */
const MAX_VALUES = 1_000_000;

export const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

export const clip = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more characters)`;

/** The own property, or undefined; a module namespace throws for a binding that is not set yet. */
export function ownProperty(object: object, key: string): PropertyDescriptor | undefined {
  try {
    return types.isProxy(object) ? undefined : Object.getOwnPropertyDescriptor(object, key);
  } catch {
    return undefined;
  }
}

/** The constructor's name for objects, "null" or the result of `typeof` for all else. */
export function classNameOf(value: unknown): string {
  if (value === null) return "null";
  if (!isObject(value)) return typeof value;
  if (types.isProxy(value)) return "Proxy";
  for (let at: object | null = value; at && !types.isProxy(at); at = Object.getPrototypeOf(at)) {
    const maker: unknown = ownProperty(at, "constructor")?.value;
    const name: unknown = typeof maker === "function" ? ownProperty(maker, "name")?.value : undefined;
    if (typeof name === "string" && name !== "") return name;
  }
  return typeof value;
}

/** A primitive as the data model's `SerializedValue`. */
export function serialize(value: unknown): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" && value.length <= MAX_TEXT) return value;
  return { type: "Unsupported", typeName: typeof value, toString: clip(String(value), 1000) };
}

function isJson(value: unknown, ancestors: object[], budget = { left: MAX_VALUES }): boolean {
  budget.left -= 1;
  if (budget.left < 0) return false;
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || types.isProxy(value)) return false;
  if (ancestors.length >= MAX_NESTING || ancestors.includes(value)) return false;
  const shape = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && shape !== Object.prototype && shape !== null) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  const keys = Object.keys(value);
  if (Array.isArray(value) && keys.length !== value.length) return false;
  const deeper = [...ancestors, value];
  return keys.every((key) => {
    const property = ownProperty(value, key);
    if (!property || !("value" in property) || (key === "toJSON" && typeof property.value === "function")) return false;
    return (property.value === undefined && !Array.isArray(value)) || isJson(property.value, deeper, budget);
  });
}

export function describe(value: unknown): string {
  try {
    return clip(inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 10_000 }), MAX_TEXT);
  } catch {
    return `[${classNameOf(value)}]`;
  }
}

/** The value itself where JSON can carry it whole, else a description; tell them apart by `valueType`. */
export function exportValue(value: unknown): { value?: unknown; valueType: string } {
  const valueType = classNameOf(value);
  if (value === undefined) return { valueType };
  if (!isJson(value, [])) return { value: describe(value), valueType };
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) {
    return { value: typeof value === "string" ? clip(value, MAX_TEXT) : describe(value), valueType };
  }
  return { value: JSON.parse(text), valueType };
}
