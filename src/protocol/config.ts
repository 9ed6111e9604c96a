// What may stand in the config file? Unknown keys are errors; the idle numbers have the names of the environment.
import { z } from "zod";

const wholeMs = z.number().int().nonnegative();

export const AgentConfig = z.strictObject({
  command: z.string().min(1).describe("What to run, by name or path"),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}).describe("Set for it, whatever the environment says"),
  environment: z
    .array(z.string())
    .default([])
    .describe("Variables it gets besides the common ones; X_* for all that begin so"),
  displayName: z.string().min(1).optional(),
  install: z.string().optional().describe("What to say when it is not found"),
});
export type AgentConfig = z.infer<typeof AgentConfig>;

export const Config = z.strictObject({
  IDLE_TIMEOUT_MS: wholeMs.optional(),
  MAX_IDLE_MS: wholeMs.optional(),
  STALE_OUTPUT_MS: wholeMs.optional(),
  cdpEndpoints: z.array(z.string()).optional().describe("Browsers for holdfast browse, in the order they are tried"),
  agents: z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/), AgentConfig).default({}),
});
export type Config = z.infer<typeof Config>;
