// holdfast attach: follow a session, from the beginning or from any event on.
import { z } from "zod";
import { SessionName } from "../protocol/agents.ts";
import { followSession } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";
import { createPermissionDialog } from "./permission-dialog.ts";
import { createSessionView } from "./show-session.ts";

export const attach = holdfastCommand({
  name: "attach",
  args: z.object({
    session: SessionName.describe("The session, as holdfast sessions lists it"),
    after: z.number().int().min(0).default(0).describe("Begin behind this event"),
  }),
  positionals: ["session"],
  examples: [
    { line: "holdfast attach work", says: "Everything so far, then live until Ctrl-C; answer its questions here" },
    { line: "holdfast attach work --after 17 --format json", says: "Events 18 and on" },
  ],
  stands: () => true,
  async run({ session, after, port }, context) {
    const connection = await context.open({ port, mode: "standing" });
    const view = createSessionView(context.printer);
    const dialog = createPermissionDialog(context, connection, session);
    try {
      for await (const event of followSession(connection, session, after)) {
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
  },
});
