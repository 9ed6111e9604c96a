// How do a command's arguments look to a program? As JSON Schema, which MCP tools carry as it is.
import type { ArgumentSpec, Shape } from "./argument.ts";
import { DURATION } from "./value.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

function ruleOf(spec: ArgumentSpec): JsonSchema {
  switch (spec.kind) {
    case "text":
      return { type: "string", ...(spec.pattern ? { pattern: spec.pattern.source } : {}) };
    case "choice":
      return { type: "string", enum: spec.choices };
    case "switch":
      return { type: "boolean" };
    case "number": {
      const { whole, min, max } = spec;
      return {
        type: whole ? "integer" : "number",
        ...(min === undefined ? {} : { minimum: min }),
        ...(max === undefined ? {} : { maximum: max }),
      };
    }
    case "list":
      return { type: "array", items: { type: "string", ...(spec.choices ? { enum: spec.choices } : {}) } };
    case "duration":
      return {
        anyOf: [
          { type: "string", pattern: DURATION.source },
          { type: "number", minimum: 0 },
        ],
      };
    case "optionalValue":
      return { anyOf: [{ const: true }, { type: "string", minLength: 1 }] };
  }
}

export function jsonSchemaOf(args: Shape) {
  const property = (spec: ArgumentSpec): JsonSchema => ({
    ...ruleOf(spec),
    description: spec.description,
    ...(spec.defaultValue === undefined ? {} : { default: spec.defaultValue }),
  });
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(args).map(([key, spec]) => [key, property(spec)])),
    required: Object.keys(args).filter((key) => args[key]?.required),
    additionalProperties: false,
  };
}
