// What do the words on the line ask for? Words in, checked arguments out, or one fault that says what would be right.
import { z } from "zod";
import { Fault } from "../protocol/fault.ts";
import { DEFAULT_PORT } from "../protocol/version.ts";
import { type Argument, argumentsOf } from "./arguments.ts";
import { type AnyCommand, type Args, sharedArgs } from "./command.ts";
import { usage } from "./help.ts";
import { asNumber, readWords, refuse, type Values } from "./words.ts";

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
  const port = sharedArgs.port.safeParse(asNumber(given));
  if (port.success && port.data !== undefined) return port.data;
  throw new Fault("USAGE", `HOLDFAST_PORT in the environment is "${given}"; give a whole number from 0 to 65535`, {
    argument: "HOLDFAST_PORT",
    value: given,
  });
}

export function parseArgs<Shape extends z.ZodRawShape>(
  spec: Omit<AnyCommand, "args"> & { args: z.ZodObject<Shape> },
  words: readonly string[],
  env: Env = {},
): Args<Shape> {
  const all = argumentsOf(spec);
  const values = readWords(spec, all, words);
  const { shape } = spec.args;
  const usesSharedPort = (shape["port"] ?? sharedArgs.port) === sharedArgs.port;
  if (usesSharedPort && !values.has("port")) values.set("port", portFrom(env));
  complete(spec, all, values);

  const given = Object.fromEntries(values);
  const rest = Object.fromEntries(Object.entries(sharedArgs).filter(([key]) => !Object.hasOwn(shape, key)));
  const pick = (keys: object) => Object.fromEntries(Object.entries(given).filter(([key]) => Object.hasOwn(keys, key)));
  return {
    ...check(spec, all, z.object(rest), pick(rest)),
    ...check(spec, all, spec.args, pick(shape)),
  } as Args<Shape>;
}

function complete(spec: AnyCommand, all: readonly Argument[], values: Values): void {
  for (const { key, kind, defaultValue } of all)
    if (kind === "switch" && defaultValue === false && !values.has(key)) values.set(key, false);
  const missing = all.filter(({ key, required }) => required && !values.has(key));
  if (!missing[0]) return;
  const names = missing.map(({ label, description }) => `${label} (${description})`).join(", ");
  refuse(spec, `Missing ${names}; usage: ${usage(spec)}`, { argument: missing[0].label });
}

function check(
  spec: AnyCommand,
  all: readonly Argument[],
  schema: z.ZodObject,
  given: Record<string, unknown>,
): object {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const argument = all.find(({ key }) => key === issue?.path[0]);
  if (!argument) return refuse(spec, `${issue?.message}; usage: ${usage(spec)}`, {});
  const whole = given[argument.key];
  const value = String(Array.isArray(whole) ? (whole[Number(issue?.path[1])] ?? whole) : whole);
  // What only the command knows (a refinement, a text's length) is said in its own words.
  const own = argument.wanted === "a value" || (issue?.code === "custom" && argument.kind !== "duration");
  const right = own ? issue?.message : `give ${argument.wanted}`;
  const noun = argument.place === "flag" ? "Flag" : "Argument";
  return refuse(spec, `${noun} ${argument.label} got "${value}"; ${right}`, { argument: argument.label, value });
}
