// One command with every kind of argument.
import { choice, duration, list, number, optionalValue, text, toggle, whole } from "../../src/surface/argument.ts";
import { command } from "../../src/surface/command.ts";

export const sample = command<{ greeting: string }>()({
  name: "prompt",
  args: {
    agent: text("Which agent, by name"),
    text: text("What to ask; - reads it from stdin", { optional: true }),
    session: text("The session to go on with", {
      optional: true,
      pattern: /^.{2,}$/s,
      says: "give at least 2 letters",
    }),
    permissions: choice("What the agent may do", ["ask", "allow", "deny"], { default: "ask" }),
    timeout: duration("How long to wait for the answer", { default: "10s" }),
    pluginToken: optionalValue("Ask plugins for a token"),
    noStart: toggle("Fail where no host runs"),
    watch: toggle("Go on and on"),
    links: toggle("Links in the answer", { default: true }),
    header: list("A header to send"),
    level: list("Only these levels", ["info", "error"]),
    count: whole("How many answers", { min: 1, optional: true }),
    ratio: number("How bold", { min: -1, max: 1, optional: true }),
  },
  positionals: ["agent", "text"],
  short: { s: "session", w: "watch", p: "port" },
  examples: [{ line: 'holdfast prompt demo "hello"', says: "Asks the demo agent" }],
  details: "The answer is streamed as it comes.",
  run: async (args, context) => args.agent.length + args.timeout + context.greeting.length,
});
