// What may be given for one argument? Plain data: flags, help, checks and JSON Schema are all read off it.

/** What its value names: shells ask the system or a host for what there is. */
export type Completes = "agent" | "agent-session" | "plugin-session" | "instance" | "topic" | "file" | "directory";

/** `Value` is what `run` gets; it is there for the compiler only. */
interface About<Value> {
  description: string;
  required: boolean;
  /** As it would be given. */
  defaultValue?: unknown;
  completes?: Completes;
  readonly yields?: Value;
}

export type ArgumentRule =
  | { kind: "text"; pattern?: RegExp; says?: string }
  | { kind: "choice"; choices: readonly string[] }
  | { kind: "switch" }
  | { kind: "number"; whole: boolean; min?: number; max?: number }
  /** Repeatable as a flag; as the last positional it takes the rest. */
  | { kind: "list"; choices?: readonly string[] }
  | { kind: "duration" }
  | { kind: "optionalValue" };

export type ArgumentSpec<Value = unknown> = About<Value> & ArgumentRule;
export type Shape = Readonly<Record<string, ArgumentSpec>>;
type ValueOf<Spec> = Spec extends { readonly yields?: infer Value } ? Value : never;
type Omissible<Of> = { [Key in keyof Of]: undefined extends ValueOf<Of[Key]> ? Key : never }[keyof Of];
export type Values<Of extends Shape> = {
  [Key in Exclude<keyof Of, Omissible<Of>>]: ValueOf<Of[Key]>;
} & { [Key in Omissible<Of>]?: ValueOf<Of[Key]> };

/** Neither: it must be given. */
interface Absence<Given> {
  optional?: true;
  default?: Given;
}
type Missing<How> = How extends { optional: true } ? undefined : never;

const about = (description: string, { optional, default: defaultValue }: Absence<unknown>) => ({
  description,
  required: !optional && defaultValue === undefined,
  ...(defaultValue === undefined ? {} : { defaultValue }),
});

/** `says` ends the sentence about a text that does not match. */
type TextRules = { pattern: RegExp; says: string } | { pattern?: never; says?: never };

export const text = <How extends Absence<string> & TextRules & { completes?: Completes }>(
  description: string,
  how: How = {} as How,
): ArgumentSpec<string | Missing<How>> => ({
  ...about(description, how),
  kind: "text",
  ...(how.pattern ? { pattern: how.pattern, says: how.says } : {}),
  ...(how.completes ? { completes: how.completes } : {}),
});

export const choice = <const Word extends string, How extends Absence<NoInfer<Word>>>(
  description: string,
  choices: readonly Word[],
  how: How = {} as How,
): ArgumentSpec<Word | Missing<How>> => ({ ...about(description, how), kind: "choice", choices });

/** Off unless it is given, or on by default and turned off with `--no-`; optional: neither unless it is said. */
export const toggle = <How extends Absence<boolean>>(
  description: string,
  how: How = {} as How,
): ArgumentSpec<boolean | Missing<How>> => ({
  ...about(description, how.optional ? how : { default: how.default ?? false }),
  kind: "switch",
});

interface Range extends Absence<number> {
  min?: number;
  max?: number;
}

const numeric = <How extends Range>(
  description: string,
  whole: boolean,
  how: How,
): ArgumentSpec<number | Missing<How>> => ({
  ...about(description, how),
  kind: "number",
  whole,
  ...(how.min === undefined ? {} : { min: how.min }),
  ...(how.max === undefined ? {} : { max: how.max }),
});

export const number = <How extends Range>(description: string, how: How = {} as How) =>
  numeric(description, false, how);
export const whole = <How extends Range>(description: string, how: How = {} as How) => numeric(description, true, how);

/** Empty when nothing is given. */
export const list = <const Word extends string = string>(
  description: string,
  choices?: readonly Word[],
): ArgumentSpec<Word[]> => ({
  ...about(description, { default: [] }),
  kind: "list",
  ...(choices ? { choices } : {}),
});

/** "500ms", "10s", "2m", "1h" or a number of seconds; yields milliseconds. */
export const duration = <How extends Absence<string>>(
  description: string,
  how: How = {} as How,
): ArgumentSpec<number | Missing<How>> => ({ ...about(description, how), kind: "duration" });

/** `--flag` alone yields true, `--flag=X` yields "X"; the word after it is never taken. */
export const optionalValue = (description: string): ArgumentSpec<string | true | undefined> => ({
  ...about(description, { optional: true }),
  kind: "optionalValue",
});
