// holdfast cancel: end the turn that runs in a session.
import { askOnce, onceArgs, sessionNameArg } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";

export const cancel = holdfastCommand({
  name: "cancel",
  args: {
    session: sessionNameArg,
    ...onceArgs,
  },
  positionals: ["session"],
  examples: [{ line: "holdfast cancel work", says: "The turn ends; the session stays" }],
  async run(args, context) {
    const { session } = args;
    const { cancelled } = (await askOnce(context, args, { verb: "cancel", session })) as {
      cancelled: boolean;
    };
    context.printer.json({ session, cancelled });
    context.printer.line(cancelled ? `The turn in ${session} was cancelled` : `Nothing runs in ${session}`);
    return 0;
  },
});
