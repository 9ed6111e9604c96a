// What may stand in the config file? Unknown keys are errors; numbers have the names of the table and the environment.
import { z } from "zod";
import { FILE_NUMBERS, type FileNumber, TUNABLES, type Tunable } from "./tunables.ts";
import { BUILT_IN_AGENTS } from "./vocabulary.ts";

type WholeNumber = z.ZodOptional<z.ZodNumber>;

const wholeNumber = (name: FileNumber): WholeNumber => {
  const { least = 0, defaultValue, reason }: Tunable = TUNABLES[name];
  return z.number().int().min(least).optional().describe(`${reason} (default: ${defaultValue})`);
};
const numbers = Object.fromEntries(FILE_NUMBERS.map((name) => [name, wholeNumber(name)])) as Record<
  FileNumber,
  WholeNumber
>;

const McpServer = z.looseObject({ name: z.string().min(1) });

export const AgentConfig = z.strictObject({
  command: z.string().min(1).optional().describe("What to run, by name or path; a built-in agent has its own"),
  args: z.array(z.string()).default([]).describe("Its arguments"),
  env: z.record(z.string(), z.string()).default({}).describe("Set for it, whatever the environment says"),
  environment: z
    .array(z.string())
    .default([])
    .describe("Variables it gets besides the common ones; X_* for all that begin so"),
  displayName: z.string().min(1).optional().describe("As people call it"),
  install: z.string().optional().describe("What to say when it is not found"),
  mcpServers: z
    .array(z.union([z.literal("holdfast"), McpServer]))
    .default([])
    .describe('MCP servers its sessions get, as ACP has them; "holdfast" stands for holdfast mcp'),
});
export type AgentConfig = z.infer<typeof AgentConfig>;

function mustHaveCommands(agents: Record<string, AgentConfig>, context: z.RefinementCtx): void {
  const known: readonly string[] = BUILT_IN_AGENTS;
  for (const [name, { command }] of Object.entries(agents)) {
    if (command === undefined && !known.includes(name))
      context.addIssue({
        code: "custom",
        path: [name, "command"],
        message: "it is missing, and no built-in agent has this name",
      });
  }
}

export const Config = z.strictObject({
  $schema: z.string().optional().describe("For editors; holdfast config --schema prints what it should point to"),
  ...numbers,
  cdpEndpoints: z.array(z.string()).optional().describe("Browsers for holdfast browse, in the order they are tried"),
  agents: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), AgentConfig)
    .default({})
    .describe("More agents, or others in place of the built-in ones of the same name")
    .superRefine(mustHaveCommands),
});
export type Config = z.infer<typeof Config>;

export const configSchema = (): object => ({
  ...z.toJSONSchema(Config, { io: "input" }),
  title: "The config file of holdfast",
});
