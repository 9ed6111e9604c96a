// What do the words on the line ask for? Words in, checked arguments out, or one fault that says what would be right.
import { Fault } from "../protocol/fault.ts";
import { DEFAULT_PORT } from "../protocol/version.ts";
import type { Shape } from "./argument.ts";
import { type Argument, argumentsOf, wantedBy } from "./arguments.ts";
import { type AnyCommand, type Args, sharedArgs } from "./command.ts";
import { usage } from "./help.ts";
import { checkValue } from "./value.ts";
import { asNumber, type Given, readWords, refuse } from "./words.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** Values never begin with a dash, so a word that asks for help is seen before anything is read. */
export function wantsHelp(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const before = end === -1 ? words : words.slice(0, end);
  return before.includes("--help") || before.includes("-h");
}

/** HOLDFAST_PORT, else the default. */
export function portFrom(env: Env): number {
  const given = env["HOLDFAST_PORT"];
  if (!given) return DEFAULT_PORT;
  const port = asNumber(given);
  if (typeof port === "number" && checkValue(sharedArgs.port, port).kind === "right") return port;
  throw new Fault("USAGE", `HOLDFAST_PORT in the environment is "${given}"; give a whole number from 0 to 65535`, {
    argument: "HOLDFAST_PORT",
    value: given,
  });
}

export function parseArgs<Of extends Shape>(
  spec: Omit<AnyCommand, "args"> & { args: Of },
  words: readonly string[],
  env: Env = {},
): Args<Of> {
  const all = argumentsOf(spec);
  return checkedArgs(spec, all, readWords(spec, all, words), env);
}

/** The same for what a program gives, by key. */
export function argsFrom(spec: AnyCommand, values: Readonly<Record<string, unknown>>, env: Env = {}): Args<Shape> {
  const all = argumentsOf(spec);
  const keys = all.filter(({ shared }) => !shared).map(({ key }) => key);
  const unknown = Object.keys(values).find((key) => !all.some((argument) => argument.key === key));
  if (unknown !== undefined)
    refuse(spec, `Unknown argument "${unknown}" for "${spec.name}"; it takes: ${keys.join(", ")}`, {
      argument: unknown,
    });
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return checkedArgs(spec, all, new Map(given), env);
}

function checkedArgs<Of extends Shape>(
  spec: Omit<AnyCommand, "args"> & { args: Of },
  all: readonly Argument[],
  given: Given,
  env: Env,
): Args<Of> {
  const usesSharedPort = (spec.args["port"] ?? sharedArgs.port) === sharedArgs.port;
  if (usesSharedPort && !given.has("port")) given.set("port", portFrom(env));
  refuseMissing(spec, all, given);
  const values = all.flatMap((argument) => {
    const value = given.get(argument.key) ?? argument.defaultValue;
    return value === undefined ? [] : [[argument.key, checked(spec, argument, value)]];
  });
  return Object.fromEntries(values);
}

function refuseMissing(spec: AnyCommand, all: readonly Argument[], given: Given): void {
  const missing = all.filter(({ key, required }) => required && !given.has(key));
  if (!missing[0]) return;
  const names = missing.map(({ label, description }) => `${label} (${description})`).join(", ");
  refuse(spec, `Missing ${names}; usage: ${usage(spec)}`, { argument: missing[0].label });
}

function checked(spec: AnyCommand, argument: Argument, given: unknown): unknown {
  const result = checkValue(argument, given);
  if (result.kind === "right") return result.value;
  const { label } = argument;
  const value = String(result.part);
  // What only the command knows is said in its own words.
  const own = argument.kind === "text" ? argument.says : undefined;
  const noun = argument.place === "flag" ? "Flag" : "Argument";
  const message = `${noun} ${label} got "${value}"; ${own ?? `give ${wantedBy(argument)}`}`;
  return refuse(spec, message, { argument: label, value });
}
