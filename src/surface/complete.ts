// What could come next on the line? Read off a command's arguments; names that only a host knows are left to be asked for.
import type { Completes } from "./argument.ts";
import { type Argument, argumentsOf, choicesOf } from "./arguments.ts";
import type { AnyCommand } from "./command.ts";
import { type Meaning, meaningsOf } from "./words.ts";

export interface Candidate {
  value: string;
  says: string;
}

export type Fits =
  | { kind: "candidates"; list: Candidate[] }
  /** `before` stands in front of each: the current word is `--flag=value` as a whole. */
  | { kind: "names"; of: Completes; typed: string; before: string; port: string | undefined };

/** The current word is the last one; `split`: the shell parted it at the `=`, and only wants what comes behind. */
interface Line {
  earlier: string[];
  current: string;
  split: boolean;
}

/** Bash takes `=` for a word of its own: `--format=js` comes as three. */
export function readLine(words: readonly string[]): Line {
  const joined: string[] = [];
  let split = false;
  for (const [index, word] of words.entries()) {
    const before = joined.at(-1);
    const behind = before?.startsWith("--") && before.endsWith("=") && words[index - 1] === "=";
    split = before?.startsWith("--") === true && (word === "=" || behind === true);
    if (split) joined[joined.length - 1] = before + word;
    else joined.push(word);
  }
  return { earlier: joined.slice(0, -1), current: joined.at(-1) ?? "", split };
}

interface Walked {
  used: Map<string, string>;
  /** A flag that waits for its value. */
  open: Argument | undefined;
  plain: number;
  /** Behind `--`: no flags any more. */
  plainOnly: boolean;
}

function walk(meanings: Map<string, Meaning>, earlier: readonly string[]): Walked {
  const walked: Walked = { used: new Map(), open: undefined, plain: 0, plainOnly: false };
  for (const word of earlier) {
    if (walked.plainOnly) walked.plain++;
    else if (walked.open && !word.startsWith("-")) {
      walked.used.set(walked.open.key, word);
      walked.open = undefined;
    } else if (word === "--") walked.plainOnly = true;
    else if (word.startsWith("-") && word !== "-") {
      const [name = "", value] = word.split("=", 2);
      const meaning = meanings.get(name);
      if (meaning) walked.used.set(meaning.argument.key, value ?? "");
      walked.open = meaning && meaning.fixed === undefined && value === undefined ? meaning.argument : undefined;
    } else walked.plain++;
  }
  return walked;
}

const startingWith = (typed: string, list: readonly Candidate[]): Fits => ({
  kind: "candidates",
  list: list.filter(({ value }) => value.startsWith(typed)),
});

const NOTHING: Fits = { kind: "candidates", list: [] };

function flagsOf(all: readonly Argument[], used: ReadonlyMap<string, string>): Candidate[] {
  const own = all
    .filter(({ key, kind, place }) => place === "flag" && (kind === "list" || !used.has(key)))
    .map(({ kind, label, defaultValue, description }) => ({
      value: kind === "switch" && defaultValue === true ? label.replace("--", "--no-") : label,
      says: description,
    }));
  const json = used.has("format") ? [] : [{ value: "--json", says: "Short for --format json" }];
  return [...own, ...json, { value: "--help", says: "How it is used" }];
}

export function whatFits(spec: AnyCommand, words: readonly string[]): Fits {
  const all = argumentsOf(spec);
  const meanings = meaningsOf(all);
  const { earlier, current, split } = readLine(words);
  const { used, open, plain, plainOnly } = walk(meanings, earlier);

  const valuesOf = (argument: Argument, typed: string, before: string): Fits => {
    const { completes } = argument;
    if (completes !== undefined) return { kind: "names", of: completes, typed, before, port: used.get("port") };
    const list = choicesOf(argument).map((word) => ({ value: before + word, says: "" }));
    return startingWith(before + typed, list);
  };

  if (open && !current.startsWith("-")) return valuesOf(open, current, "");
  if (!plainOnly && current.startsWith("-") && current !== "-") {
    const equals = current.indexOf("=");
    if (equals === -1) return startingWith(current, flagsOf(all, used));
    const argument = meanings.get(current.slice(0, equals))?.argument;
    return argument
      ? valuesOf(argument, current.slice(equals + 1), split ? "" : current.slice(0, equals + 1))
      : NOTHING;
  }
  const positionals = all.filter(({ place }) => place === "positional");
  const last = positionals.at(-1);
  const positional = positionals[plain] ?? (last?.kind === "list" ? last : undefined);
  if (positional) return valuesOf(positional, current, "");
  return plainOnly ? NOTHING : startingWith(current, flagsOf(all, used));
}
