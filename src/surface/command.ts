// What is a command? Its arguments as one zod object, off which flags, help, completions and MCP tools are read.
import { z } from "zod";
import { DEFAULT_PORT } from "../protocol/version.ts";

export const sharedArgs = {
  format: z.enum(["text", "json"]).default("text").describe("How results are written"),
  port: z
    .int()
    .min(0)
    .max(65535)
    .optional()
    .describe(`Port of the host (default: HOLDFAST_PORT, else ${DEFAULT_PORT})`),
} as const;

export type Format = z.output<typeof sharedArgs.format>;
/** Read into every command's arguments, which need not declare them. */
export type SharedArgs = { format: Format; port: number };
export type Args<Shape extends z.ZodRawShape> = SharedArgs & z.output<z.ZodObject<Shape>>;

type Key<Shape> = keyof Shape & string;

export interface CommandSpec<Shape extends z.ZodRawShape = z.ZodRawShape, Context = unknown> {
  name: string;
  /** Keys are camelCase; `pluginToken` is `--plugin-token`. Each has a description. */
  args: z.ZodObject<Shape>;
  /** In order; these are no flags. The last one may be a list, and takes the rest. */
  positionals?: readonly Key<Shape>[];
  short?: Readonly<Record<string, Key<Shape> | keyof SharedArgs>>;
  /** `line` is the whole line as it is typed, from `holdfast` on. */
  examples: readonly { line: string; says: string }[];
  details?: string;
  /** Stays until it is told to go, and then leaves in good order by itself. */
  endsItself?: boolean;
  /** With these arguments it is a standing client: it may become host, so its output must never make it wait. */
  stands?(args: Args<Shape>): boolean;
  run(args: Args<Shape>, context: Context): Promise<number>;
}

/** Any command, as the table, the flags and the help see it: `CommandSpec` is invariant in its shape, this is not. */
export interface AnyCommand<Context = unknown> {
  name: string;
  args: z.ZodObject;
  positionals?: readonly string[];
  short?: Readonly<Record<string, string>>;
  examples: readonly { line: string; says: string }[];
  details?: string;
  endsItself?: boolean;
  stands?(args: Args<z.ZodRawShape>): boolean;
  run(args: Args<z.ZodRawShape>, context: Context): Promise<number>;
}

/** `command<Context>()({ … })`: the context is said, the arguments are inferred. */
export const command =
  <Context = unknown>() =>
  <Shape extends z.ZodRawShape>(spec: CommandSpec<Shape, Context>): CommandSpec<Shape, Context> =>
    spec;

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
// A timer set beyond 31 bits of milliseconds fires at once.
const LONGEST_MS = 596 * UNITS.h;

function milliseconds(given: string | number): number {
  if (typeof given === "number") return Math.round(given * UNITS.s);
  const [, amount, unit = "s"] = DURATION.exec(given) ?? [];
  return Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
}

/** "500ms", "10s", "2m", "1h" or a number of seconds; yields milliseconds. A default is `.prefault("10s")`. */
export const duration = () =>
  z
    .union([z.string().regex(DURATION), z.number().nonnegative()])
    .transform(milliseconds)
    .refine((ms) => ms <= LONGEST_MS)
    .meta({ kind: "duration" });

/** `--flag` alone yields true, `--flag=X` yields "X"; the word after it is never taken. */
export const optionalValue = () => z.union([z.literal(true), z.string().min(1)]).meta({ kind: "optionalValue" });
