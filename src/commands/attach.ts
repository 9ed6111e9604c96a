// holdfast attach: follow a session, from the beginning or from any event on.
import type { BridgeConnection } from "../bridge/connection.ts";
import { Fault } from "../protocol/fault.ts";
import { duration, whole } from "../surface/argument.ts";
import { followSession, sessionNameArg } from "./agent-session.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { createPermissionDialog } from "./permission-dialog.ts";
import { createSessionView } from "./show-session.ts";
import { unlessOver } from "./time-limit.ts";

export const attach = holdfastCommand({
  name: "attach",
  args: {
    session: sessionNameArg,
    after: whole("Begin behind this event", { min: 0, default: 0 }),
    timeout: duration("Leave after so long, with exit code 6", { optional: true }),
  },
  positionals: ["session"],
  examples: [
    { line: "holdfast attach work", says: "Everything so far, then live until Ctrl-C; answer its questions here" },
    { line: "holdfast attach work --after 17 --format json", says: "Events 18 and on" },
  ],
  stands: () => true,
  async run({ session, after, port, timeout }, context) {
    const over = new AbortController();
    const late = () => over.abort(new Fault("TIMEOUT", `Left after ${timeout} ms; the session goes on`));
    const cancelTimer = timeout === undefined ? () => {} : context.world.clock.after(timeout, late);
    try {
      const connection = await unlessOver(over.signal, context.open({ port, mode: "standing" }));
      return await follow(context, connection, { session, after, over: over.signal });
    } finally {
      cancelTimer();
    }
  },
});

async function follow(
  context: Context,
  connection: BridgeConnection,
  { session, after, over }: { session: string; after: number; over: AbortSignal },
): Promise<number> {
  const notice = (said: string) => context.printer.note(said, "yellow");
  const view = createSessionView(context.printer);
  const dialog = createPermissionDialog(context, connection, session);
  try {
    for await (const event of followSession(connection, session, after, notice, over)) {
      view.show(event);
      dialog.told(event);
      // Only what was read is acknowledged; the rest waits in the journal.
      await context.room();
    }
    return 0;
  } finally {
    view.end();
    dialog.end();
  }
}
