// Which commands may a program call, and with what? Read off the command table, as MCP tools.
import type { Shape } from "./argument.ts";
import type { AnyCommand } from "./command.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { ToolEntry } from "./overview.ts";

/** Whoever starts the server decides this once. */
const NEVER = ["noStart"];

export function argsOfTool({ args }: AnyCommand<never>, { without = [], needs = [] }: ToolEntry): Shape {
  const left = Object.entries(args).filter(([key]) => !without.includes(key) && !NEVER.includes(key));
  return Object.fromEntries(
    left.map(([key, spec]) => {
      if (!needs.includes(key)) return [key, spec];
      const { defaultValue: _, ...rest } = spec;
      return [key, { ...rest, required: true }];
    }),
  );
}

export function toolOf(command: AnyCommand<never>, summary: string, entry: ToolEntry) {
  const { name, details } = command;
  return {
    name,
    description: details === undefined ? summary : `${summary}. ${details}`,
    inputSchema: jsonSchemaOf(argsOfTool(command, entry)),
    annotations: { title: `holdfast ${name}`, readOnlyHint: entry.readOnly === true },
  };
}
