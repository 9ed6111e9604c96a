// holdfast agents: which agents are known, found and running.
import { listAgents } from "./agent-list.ts";
import { onceArgs, openForAgents } from "./agent-session.ts";
import { untilAnswered } from "./ask-again.ts";
import { holdfastCommand } from "./context.ts";
import { within } from "./time-limit.ts";

export const agents = holdfastCommand({
  name: "agents",
  args: onceArgs,
  examples: [{ line: "holdfast agents", says: "Each known agent, and how to install those that are missing" }],
  async run(args, context) {
    const { printer } = context;
    const ask = async () => {
      const connection = await openForAgents(context, args);
      return await untilAnswered(context, connection, () => listAgents(connection, context.env["PATH"] ?? ""));
    };
    const known = await within(context, args.timeout, ask());
    printer.json(known);
    printer.table(known, [
      { title: "AGENT", value: (each) => each.name },
      { title: "NAME", value: (each) => each.displayName },
      { title: "STATUS", value: (each) => (each.found ? each.status : "not installed") },
      { title: "PID", value: (each) => each.pid ?? "" },
      { title: "COMMAND", value: (each) => (each.found ? each.command : each.install) },
    ]);
    return 0;
  },
});
