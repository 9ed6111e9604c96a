// holdfast state: what a plugin is doing.
import { holdfastCommand } from "./context.ts";
import { askAgain, sessionArgs, timeoutArg } from "./plugin-session.ts";

export const state = holdfastCommand({
  name: "state",
  args: { ...sessionArgs, timeout: timeoutArg("queryState") },
  short: { s: "session" },
  examples: [{ line: "holdfast state", says: "The state of the only connected plugin" }],
  async run(args, context) {
    const { printer } = context;
    const found = await askAgain(context, args, "queryState", (session, timeoutMs) =>
      session.queryState({ timeoutMs }),
    );
    printer.json(found);
    for (const [key, value] of Object.entries(found)) printer.line(printer.safe(`${key}: ${String(value)}`));
    return 0;
  },
});
