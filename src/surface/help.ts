// How is one command used? Everything here is read off its arguments.
import { type Argument, argumentsOf, choicesOf } from "./arguments.ts";
import type { AnyCommand } from "./command.ts";
import { leftWidth, PAGE_COLUMNS, pairs, wrap } from "./layout.ts";

type Pair = readonly [string, string];

/** `--plugin-token` takes a TOKEN: the last word of its name is what it wants. */
const noun = (argument: Argument): string =>
  argument.kind === "duration" ? "DURATION" : argument.kind === "number" ? "N" : lastWord(argument.label).toUpperCase();
const lastWord = (label: string): string => label.slice(label.lastIndexOf("-") + 1);

function written(argument: Argument): string {
  const value = choicesOf(argument).join("|") || noun(argument);
  const negated = argument.kind === "switch" && argument.defaultValue === true;
  const name = negated ? argument.label.replace("--", "--no-") : argument.label;
  const letter = argument.letter === undefined ? "    " : `-${argument.letter}, `;
  if (argument.kind === "switch") return letter + name;
  if (argument.kind === "optionalValue") return `${letter}${name}[=${value}]`;
  return `${letter}${name} ${value}`;
}

function shownDefault({ kind, defaultValue }: Argument): string | undefined {
  if (defaultValue === undefined || kind === "switch") return undefined;
  if (Array.isArray(defaultValue)) return defaultValue.length > 0 ? defaultValue.join(", ") : undefined;
  return String(defaultValue);
}

function explained(argument: Argument): string {
  const byDefault = shownDefault(argument);
  const choices = choicesOf(argument);
  const notes = [
    argument.place === "positional" && choices.length > 0 && choices.join(", "),
    argument.place === "flag" && argument.kind === "list" && "repeatable",
    argument.place === "flag" && argument.required && "required",
    byDefault !== undefined && `default: ${byDefault}`,
  ].filter((note) => note !== false);
  const negated = argument.kind === "switch" && argument.defaultValue === true;
  const text = negated ? `Turn off: ${argument.description}` : argument.description;
  return notes.length > 0 ? `${text} (${notes.join("; ")})` : text;
}

function usageWord({ label, kind, required }: Argument): string {
  const word = kind === "list" ? `${label}...` : label;
  return required ? word : `[${word}]`;
}

export function usage(spec: AnyCommand, all: readonly Argument[] = argumentsOf(spec)): string {
  const positionals = all.filter(({ place }) => place === "positional").map(usageWord);
  const needed = all
    .filter(({ place, required }) => place === "flag" && required)
    .map((flag) => written(flag).slice(4));
  return ["holdfast", spec.name, ...positionals, ...needed, "[FLAGS]"].join(" ");
}

export function helpFor(spec: AnyCommand, summary: string): string {
  const all = argumentsOf(spec);
  const rows = (keep: (argument: Argument) => boolean, write: (argument: Argument) => string): Pair[] =>
    all.filter(keep).map((argument) => [write(argument), explained(argument)]);
  const positionals = rows(
    ({ place }) => place === "positional",
    ({ label }) => label,
  );
  const flags = rows(({ place, shared }) => place === "flag" && !shared, written);
  const shared: Pair[] = [
    ...rows((argument) => argument.shared, written),
    ["    --json", "Short for --format json"],
    ["-h, --help", "This text"],
  ];
  const left = leftWidth([...positionals, ...flags, ...shared]);
  const section = (title: string, list: readonly Pair[]) =>
    list.length > 0 ? [`${title}:`, ...pairs(list, left), ""] : [];
  return [
    ...wrap(`holdfast ${spec.name}: ${summary}`, PAGE_COLUMNS),
    "",
    `Usage: ${usage(spec, all)}`,
    "",
    ...(spec.details ? [...wrap(spec.details, PAGE_COLUMNS), ""] : []),
    ...section("Arguments", positionals),
    ...section("Flags", flags),
    ...section("Flags of every command", shared),
    ...(spec.appendix ? [...spec.appendix(), ""] : []),
    ...(spec.examples.length > 0 ? ["Examples:"] : []),
    ...spec.examples.flatMap(({ line, says }) => [
      `  ${line}`,
      ...wrap(says, PAGE_COLUMNS - 6).map((text) => `      ${text}`),
    ]),
    "",
  ].join("\n");
}
