// holdfast cancel: end the turn that runs in a session.
import { z } from "zod";
import { askOnce } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";
import { timeLimitArg } from "./time-limit.ts";

export const cancel = holdfastCommand({
  name: "cancel",
  args: z.object({
    session: z.string().describe("The session, as holdfast sessions lists it"),
    timeout: timeLimitArg,
  }),
  positionals: ["session"],
  examples: [{ line: "holdfast cancel work", says: "The turn ends; the session stays" }],
  async run({ session, port, timeout }, context) {
    const { cancelled } = (await askOnce(context, port, timeout, { verb: "cancel", session })) as {
      cancelled: boolean;
    };
    context.printer.json({ session, cancelled });
    context.printer.line(cancelled ? `The turn in ${session} was cancelled` : `Nothing runs in ${session}`);
    return 0;
  },
});
