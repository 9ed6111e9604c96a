// holdfast reconnect: start an agent again, whatever became of it.
import { text } from "../surface/argument.ts";
import { askNotAgain, onceArgs } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";

export const reconnect = holdfastCommand({
  name: "reconnect",
  args: {
    agent: text("The agent, as holdfast agents lists it", { completes: "agent" }),
    ...onceArgs,
  },
  positionals: ["agent"],
  examples: [{ line: "holdfast reconnect demo", says: "A fresh process; its sessions are restored" }],
  async run(args, context) {
    const { agent } = args;
    const answer = await askNotAgain(context, args, { verb: "reconnect", agent, env: context.plainEnv });
    const { status } = answer as { status: string };
    context.printer.json({ agent, status });
    context.printer.line(`${agent} is ${status}`);
    return 0;
  },
});
