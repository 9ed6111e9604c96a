// Which arguments does a command take, as words on a line? Flags, help and completions ask here.
import type { ArgumentSpec, Shape } from "./argument.ts";
import { type AnyCommand, sharedArgs } from "./command.ts";

export type Argument = ArgumentSpec & {
  key: string;
  place: "positional" | "flag";
  shared: boolean;
  /** As it is typed: `--plugin-token`, or `TEXT` for a positional. */
  label: string;
  letter: string | undefined;
};

const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
export const flagOf = (key: string): string => `--${kebab(key)}`;

export const choicesOf = (spec: ArgumentSpec): readonly string[] =>
  spec.kind === "choice" || spec.kind === "list" ? (spec.choices ?? []) : [];

function wantedNumber(whole: boolean, min: number | undefined, max: number | undefined): string {
  const noun = whole ? "a whole number" : "a number";
  if (min !== undefined) return max === undefined ? `${noun} from ${min} up` : `${noun} from ${min} to ${max}`;
  return max === undefined ? noun : `${noun} up to ${max}`;
}

/** What would be right, to end a sentence with. */
export function wantedBy(spec: ArgumentSpec): string {
  const choices = choicesOf(spec);
  if (choices.length > 0) return `one of ${choices.map((word) => `"${word}"`).join(", ")}`;
  if (spec.kind === "number") return wantedNumber(spec.whole, spec.min, spec.max);
  if (spec.kind === "duration")
    return 'a duration such as "500ms", "10s", "2m" or "1h" (a bare number is seconds; up to 596h)';
  if (spec.kind === "optionalValue") return "a value after =, or the flag alone";
  return spec.kind === "switch" ? "the flag alone" : "a value";
}

/** Positionals first, in order; then the command's own flags; then those every command has. */
export function argumentsOf(spec: AnyCommand): Argument[] {
  const positionals: readonly string[] = spec.positionals ?? [];
  const letters = new Map(Object.entries(spec.short ?? {}).map(([letter, key]) => [key, letter]));
  const all: Shape = { ...sharedArgs, ...spec.args };
  const own = Object.keys(spec.args).filter((key) => !positionals.includes(key) && !Object.hasOwn(sharedArgs, key));
  return [...positionals, ...own, ...Object.keys(sharedArgs)].flatMap((key): Argument | [] => {
    const found = all[key];
    if (!found) return [];
    const place = positionals.includes(key) ? "positional" : "flag";
    const label = place === "positional" ? kebab(key).toUpperCase() : flagOf(key);
    return { ...found, key, place, shared: Object.hasOwn(sharedArgs, key), label, letter: letters.get(key) };
  });
}
