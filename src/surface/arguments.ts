// Which arguments does a command take, as words on a line? Read off its zod object; flags, help and completions ask here.
import { z } from "zod";
import { type AnyCommand, sharedArgs } from "./command.ts";

export type ArgumentKind = "text" | "choice" | "switch" | "number" | "list" | "duration" | "optionalValue";

export interface Argument {
  key: string;
  kind: ArgumentKind;
  place: "positional" | "flag";
  shared: boolean;
  /** As it is typed: `--plugin-token`, or `TEXT` for a positional. */
  label: string;
  letter: string | undefined;
  description: string;
  required: boolean;
  choices: readonly string[];
  defaultValue: unknown;
  /** What would be right, to end a sentence with. */
  wanted: string;
}

interface Property {
  type?: string | string[];
  kind?: ArgumentKind;
  enum?: unknown[];
  items?: Property;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
export const flagOf = (key: string): string => `--${kebab(key)}`;

function kindOf(property: Property): ArgumentKind | undefined {
  if (property.kind) return property.kind;
  if (property.enum) return "choice";
  if (property.type === "string") return "text";
  if (property.type === "boolean") return "switch";
  if (property.type === "number" || property.type === "integer") return "number";
  return property.type === "array" && property.items?.type === "string" ? "list" : undefined;
}

function wantedNumber({ type, minimum, maximum, exclusiveMinimum }: Property): string {
  const noun = type === "integer" ? "a whole number" : "a number";
  const low = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const high = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (low !== undefined && high !== undefined) return `${noun} from ${low} to ${high}`;
  if (low !== undefined) return `${noun} from ${low} up`;
  if (exclusiveMinimum !== undefined) return `${noun} above ${exclusiveMinimum}`;
  return high === undefined ? noun : `${noun} up to ${high}`;
}

function wantedOf(kind: ArgumentKind, property: Property, choices: readonly string[]): string {
  if (choices.length > 0) return `one of ${choices.map((choice) => `"${choice}"`).join(", ")}`;
  if (kind === "number") return wantedNumber(property);
  if (kind === "duration")
    return 'a duration such as "500ms", "10s", "2m" or "1h" (a bare number is seconds; up to 596h)';
  if (kind === "optionalValue") return "a value after =, or the flag alone";
  return kind === "switch" ? "the flag alone" : "a value";
}

/** The JSON Schema of what may be given. MCP tools carry it as it is. */
export function schemaOf(args: z.ZodObject): { properties: Record<string, Property>; required: string[] } {
  const schema = z.toJSONSchema(args, {
    io: "input",
    unrepresentable: "any",
    // A default behind a transform is an output, and would not be shown.
    override({ zodSchema, jsonSchema }) {
      const definition = zodSchema._zod.def;
      if (definition.type === "default") jsonSchema.default ??= definition.defaultValue as never;
    },
  });
  return {
    ...schema,
    properties: (schema.properties ?? {}) as Record<string, Property>,
    required: schema.required ?? [],
  };
}

/** Positionals first, in order; then the command's own flags; then those every command has. */
export function argumentsOf(spec: AnyCommand): Argument[] {
  const own = schemaOf(spec.args);
  const shared = schemaOf(z.object(sharedArgs));
  const positionals: readonly string[] = spec.positionals ?? [];
  const letters = new Map(Object.entries(spec.short ?? {}).map(([letter, key]) => [key as string, letter]));

  const read = (key: string, property: Property, required: boolean): Argument => {
    const kind = kindOf(property);
    if (!kind) throw new Error(`Argument "${key}" of "${spec.name}" has a type that cannot be typed on a line`);
    const place = positionals.includes(key) ? "positional" : "flag";
    const choices = (property.enum ?? property.items?.enum ?? []).map(String);
    return {
      key,
      kind,
      place,
      shared: Object.hasOwn(sharedArgs, key),
      label: place === "positional" ? kebab(key).toUpperCase() : flagOf(key),
      letter: letters.get(key),
      description: property.description ?? "",
      required: required && kind !== "switch",
      choices,
      // A switch that must be there and is not given is off.
      defaultValue: property.default ?? (required && kind === "switch" ? false : undefined),
      wanted: wantedOf(kind, property, choices),
    };
  };

  const properties = { ...shared.properties, ...own.properties };
  const keys = new Set([...positionals, ...Object.keys(own.properties), ...Object.keys(shared.properties)]);
  const all = [...keys].map((key) => read(key, properties[key] ?? {}, own.required.includes(key)));
  return [...all.filter((argument) => !argument.shared), ...all.filter((argument) => argument.shared)];
}
