// holdfast agents: which agents are known, found and running.
import { listAgents } from "./agent-list.ts";
import { openForAgents } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";
import { noStartArg } from "./plugin-session.ts";

export const agents = holdfastCommand({
  name: "agents",
  args: { noStart: noStartArg },
  examples: [{ line: "holdfast agents", says: "Each known agent, and how to install those that are missing" }],
  async run(args, context) {
    const { printer } = context;
    const connection = await openForAgents(context, args);
    const known = await listAgents(connection, context.env["PATH"] ?? "");
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
