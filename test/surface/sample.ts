// One command with every kind of argument.
import { z } from "zod";
import { command, duration, optionalValue } from "../../src/surface/command.ts";

export const sample = command<{ greeting: string }>()({
  name: "prompt",
  args: z.object({
    agent: z.string().describe("Which agent, by name"),
    text: z.string().optional().describe("What to ask; - reads it from stdin"),
    session: z.string().min(2, "give at least 2 letters").optional().describe("The session to go on with"),
    permissions: z.enum(["ask", "allow", "deny"]).default("ask").describe("What the agent may do"),
    timeout: duration().prefault("10s").describe("How long to wait for the answer"),
    grace: duration().default(90_000).describe("How long it may take to end"),
    pluginToken: optionalValue().optional().describe("Ask plugins for a token"),
    noStart: z.boolean().default(false).describe("Fail where no host runs"),
    watch: z.boolean().describe("Go on and on"),
    links: z.boolean().default(true).describe("Links in the answer"),
    header: z.array(z.string()).default([]).describe("A header to send"),
    count: z.int().positive().optional().describe("How many answers"),
    ratio: z.number().min(-1).max(1).optional().describe("How bold"),
  }),
  positionals: ["agent", "text"],
  short: { s: "session", w: "watch", p: "port" },
  examples: [{ line: 'holdfast prompt demo "hello"', says: "Asks the demo agent" }],
  details: "The answer is streamed as it comes.",
  run: async (args, context) => args.agent.length + args.timeout + context.greeting.length,
});
