// holdfast keep: a session is not stopped although nobody watches it.
import { duration, toggle } from "../surface/argument.ts";
import { askOnce, noteMortal, onceArgs, sessionNameArg } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";

export const keep = holdfastCommand({
  name: "keep",
  args: {
    session: sessionNameArg,
    for: duration("For how long (default: until it is closed)", { optional: true }),
    off: toggle("Take the pin away again"),
    ...onceArgs,
  },
  positionals: ["session"],
  examples: [
    { line: "holdfast keep work --for 2h", says: "Not stopped for idleness within two hours" },
    { line: "holdfast keep work --off", says: "The usual limits again" },
  ],
  async run(args, context) {
    const { session, for: forMs, off } = args;
    await askOnce(context, args, { verb: "keep", session, forMs: off ? 0 : (forMs ?? null) });
    context.printer.json({ session, kept: !off });
    if (!off) noteMortal(context);
    context.printer.line(off ? `${session} has its usual limits again` : `${session} is kept`);
    return 0;
  },
});
