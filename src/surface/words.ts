// What does each word on the line stand for? Unknown flags, missing and surplus values end here; their types do not.
import { Fault } from "../protocol/fault.ts";
import { type Argument, flagOf, wantedBy } from "./arguments.ts";
import type { AnyCommand } from "./command.ts";
import { usage } from "./help.ts";
import { didYouMean } from "./suggest.ts";

/** By key, as it was typed. */
export type Given = Map<string, unknown>;
/** `fixed` is what the flag alone stands for. */
export type Meaning = { argument: Argument; fixed?: unknown };

export function readWords(spec: AnyCommand, all: readonly Argument[], words: readonly string[]): Given {
  const given: Given = new Map();
  const meanings = meaningsOf(all);
  const plain: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === "--") {
      plain.push(...left);
      break;
    }
    if (!looksLikeFlag(word)) plain.push(word);
    else readFlag(spec, meanings, given, word, left);
  }
  for (const argument of all.filter(({ place }) => place === "positional")) {
    if (plain.length === 0) break;
    given.set(argument.key, argument.kind === "list" ? plain.splice(0) : typed(argument, plain.shift() ?? ""));
  }
  if (plain[0] !== undefined)
    refuse(spec, `Unexpected argument "${plain[0]}"; text with spaces needs quotes; usage: ${usage(spec)}`, {
      value: plain[0],
    });
  return given;
}

function readFlag(spec: AnyCommand, meanings: Map<string, Meaning>, given: Given, word: string, left: string[]): void {
  const equals = word.indexOf("=");
  const name = equals === -1 ? word : word.slice(0, equals);
  const inline = equals === -1 ? undefined : word.slice(equals + 1);
  const meaning = meanings.get(name);
  if (!meaning) return refuseUnknown(spec, meanings, name);
  const { argument, fixed } = meaning;
  const { key, kind, label } = argument;
  const about = { argument: label };
  if (given.has(key) && kind !== "list")
    refuse(spec, `Flag ${label} is given twice${name === label ? "" : `, once as ${name}`}; give it once`, about);
  if (fixed !== undefined && inline !== undefined && kind !== "optionalValue")
    refuse(spec, `Flag ${name} got "${inline}"; it takes no value, give ${name} alone`, { ...about, value: inline });
  if (fixed !== undefined) return void given.set(key, inline ?? fixed);
  const next = left[0];
  const taken =
    inline ??
    (next !== undefined && (!looksLikeFlag(next) || (kind === "number" && /^-\d/.test(next)))
      ? left.shift()
      : undefined);
  if (taken === undefined)
    return refuse(
      spec,
      `Flag ${name} has no value; give ${wantedBy(argument)} (one that begins with a dash as ${label}=VALUE)`,
      about,
    );
  if (kind === "list") given.set(key, [...((given.get(key) as string[] | undefined) ?? []), taken]);
  else given.set(key, typed(argument, taken));
}

/** Every flag as it may be typed. */
export function meaningsOf(all: readonly Argument[]): Map<string, Meaning> {
  const meanings = new Map<string, Meaning>();
  const flags = all.filter(({ place }) => place === "flag");
  for (const argument of flags)
    if (argument.kind === "switch" && !argument.label.startsWith("--no-"))
      meanings.set(argument.label.replace("--", "--no-"), { argument, fixed: false });
  const format = flags.find(({ key, shared }) => key === "format" && shared);
  if (format) meanings.set("--json", { argument: format, fixed: "json" });
  // After the negations: `noStart` is `--no-start`, even beside `start`.
  for (const argument of flags) {
    const alone = argument.kind === "switch" || argument.kind === "optionalValue";
    const meaning = alone ? { argument, fixed: true } : { argument };
    meanings.set(argument.label, meaning);
    if (argument.letter !== undefined) meanings.set(`-${argument.letter}`, meaning);
  }
  return meanings;
}

function refuseUnknown(spec: AnyCommand, meanings: Map<string, Meaning>, name: string): never {
  const positional = spec.positionals?.find((key) => flagOf(key) === name);
  const look = positional ? `give it as a plain word: ${usage(spec)}` : `see "holdfast help ${spec.name}"`;
  const hint = didYouMean(name, positional ? [] : [...meanings.keys(), "--help"], look);
  return refuse(spec, `Unknown flag "${name}" for "${spec.name}"${hint}`, { argument: name });
}

export function refuse(spec: AnyCommand, message: string, data: Record<string, unknown>): never {
  throw new Fault("USAGE", message, { command: spec.name, ...data });
}

const looksLikeFlag = (word: string): boolean => word.startsWith("-") && word !== "-";
export const asNumber = (word: string): unknown => (/^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word);
const typed = (argument: Argument, word: string): unknown => (argument.kind === "number" ? asNumber(word) : word);
