// What is a command? Its arguments as plain data, off which flags, help, completions and MCP tools are read.
import { DEFAULT_PORT } from "../protocol/version.ts";
import { choice, type Shape, text, type Values, whole } from "./argument.ts";

export const FORMATS = ["text", "json"] as const;
export type Format = (typeof FORMATS)[number];

export const sharedArgs = {
  format: choice("How results are written", FORMATS, { default: "text" }),
  port: whole(`Port of the host (default: HOLDFAST_PORT, else ${DEFAULT_PORT})`, {
    min: 0,
    max: 65535,
    optional: true,
  }),
  config: text("The config file (default: holdfast/config.json in XDG_CONFIG_HOME, else in ~/.config)", {
    optional: true,
    completes: "file",
  }),
} as const;

/** Read into every command's arguments, which need not declare them. */
export type SharedArgs = { format: Format; port: number; config?: string };
export type Args<Of extends Shape> = SharedArgs & Values<Of>;

type Key<Of> = keyof Of & string;

export interface CommandSpec<Of extends Shape = Shape, Context = unknown> {
  name: string;
  /** Keys are camelCase; `pluginToken` is `--plugin-token`. */
  args: Of;
  /** In order; these are no flags. The last one may be a list, and takes the rest. */
  positionals?: readonly Key<Of>[];
  short?: Readonly<Record<string, Key<Of> | keyof SharedArgs>>;
  /** `line` is the whole line as it is typed, from `holdfast` on. */
  examples: readonly { line: string; says: string }[];
  details?: string;
  /** Lines of its help in front of the examples, as they are. */
  appendix?(): readonly string[];
  /** Stays until it is told to go, and then leaves in good order by itself. */
  endsItself?: boolean;
  /** With these arguments it is a standing client: it may become host, so its output must never make it wait. */
  stands?(args: Args<Of>): boolean;
  run(args: Args<Of>, context: Context): Promise<number>;
}

/** Any command, as the table, the flags and the help see it: `CommandSpec` is invariant in its shape, this is not. */
export interface AnyCommand<Context = unknown> {
  name: string;
  args: Shape;
  positionals?: readonly string[];
  short?: Readonly<Record<string, string>>;
  examples: readonly { line: string; says: string }[];
  details?: string;
  appendix?(): readonly string[];
  endsItself?: boolean;
  stands?(args: Args<Shape>): boolean;
  run(args: Args<Shape>, context: Context): Promise<number>;
}

/** `command<Context>()({ … })`: the context is said, the arguments are inferred. */
export const command =
  <Context = unknown>() =>
  <Of extends Shape>(spec: CommandSpec<Of, Context>): CommandSpec<Of, Context> =>
    spec;
