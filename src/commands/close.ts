// holdfast close: end a session; its journal stays, and its name finds it again.
import { askOnce, onceArgs, sessionNameArg } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";

export const close = holdfastCommand({
  name: "close",
  args: {
    session: sessionNameArg,
    ...onceArgs,
  },
  positionals: ["session"],
  examples: [
    { line: "holdfast close work", says: "Its turn is cancelled, and the agent forgets it until you come back" },
  ],
  async run(args, context) {
    const { session } = args;
    await askOnce(context, args, { verb: "close", session });
    context.printer.json({ session, closed: true });
    context.printer.line(`Closed ${session}`);
    return 0;
  },
});
