// holdfast close: end a session; its journal stays, and its name finds it again.
import { z } from "zod";
import { askOnce } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";
import { timeLimitArg } from "./time-limit.ts";

export const close = holdfastCommand({
  name: "close",
  args: z.object({
    session: z.string().describe("The session, as holdfast sessions lists it"),
    timeout: timeLimitArg,
  }),
  positionals: ["session"],
  examples: [
    { line: "holdfast close work", says: "Its turn is cancelled, and the agent forgets it until you come back" },
  ],
  async run({ session, port, timeout }, context) {
    await askOnce(context, port, timeout, { verb: "close", session });
    context.printer.json({ session, closed: true });
    context.printer.line(`Closed ${session}`);
    return 0;
  },
});
