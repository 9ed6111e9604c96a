// holdfast acp: be an ACP agent on stdio, for editors. The real agent lives in the bridge, and outlives both.
import type { BridgeConnection } from "../bridge/connection.ts";
import { readInput } from "../platform/stdio.ts";
import { createStreamOut } from "../platform/stream-out.ts";
import { SESSION_NAME } from "../protocol/vocabulary.ts";
import { createLineSplitter } from "../rpc/lines.ts";
import { text } from "../surface/argument.ts";
import { createAcpFacade } from "./acp/facade.ts";
import { listAgentSessions, listShelf } from "./agent-list.ts";
import { askUntilAnswered, openForAgents } from "./agent-session.ts";
import { untilAnswered } from "./ask-again.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { mustBeKnown } from "./known-agents.ts";
import { noStartArg } from "./plugin-session.ts";

/** An editor shows the newest of them. */
const LISTED = 1_000;

export const acp = holdfastCommand({
  name: "acp",
  args: {
    agent: text("The agent, as holdfast agents lists it", { completes: "agent" }),
    session: text("What the editor's first new session is called; one that is there goes on", {
      ...SESSION_NAME,
      optional: true,
      completes: "agent-session",
    }),
    noStart: noStartArg,
  },
  positionals: ["agent"],
  short: { s: "session" },
  examples: [{ line: "holdfast acp claude-code", says: "What an editor runs; see the README for Zed and Neovim" }],
  details:
    "Speaks the Agent Client Protocol on stdin and stdout. The agent works on when the editor goes; session/load brings the conversation back.",
  endsItself: true,
  async run(args, context) {
    const { signal, printer, world } = context;
    await mustBeKnown(context, args.port, args.agent);
    const gone = new AbortController();
    const { out, room } = createStreamOut(
      () => gone.abort(),
      () => printer.note("The editor does not read; what comes now is dropped"),
    );
    let isLeaving = false;
    // That we hang up ourselves is no news.
    const note = (said: string) => {
      if (!isLeaving) printer.note(said);
    };
    const connection = openWhenNeeded(context, args);
    const facade = createAcpFacade({
      agent: args.agent,
      wantedName: args.session,
      env: context.plainEnv,
      clock: world.clock,
      newId: world.newId,
      absolute: context.absolute,
      connection,
      ask: async (request) => await askUntilAnswered(context, await connection(), request),
      async sessions() {
        const open = await connection();
        const all = await untilAnswered(context, open, async () => [
          ...(await listAgentSessions(open)),
          ...(await listShelf(open, LISTED)),
        ]);
        return all.filter(({ agent }) => agent === args.agent);
      },
      room,
      note,
      write: (line) => out(`${line}\n`),
    });
    const splitter = createLineSplitter({
      line: (line) => facade.receive(line),
      tooLong: (bytes) => note(`A line of ${bytes} bytes was dropped`),
    });
    await readInput((bytes) => splitter.push(bytes), AbortSignal.any([signal, gone.signal]));
    isLeaving = true;
    facade.end(new Error("The editor is gone"));
    return 0;
  },
});

/** Initialize needs no host; and one that was given up is sought again at the next request. */
function openWhenNeeded(context: Context, args: { port: number; noStart: boolean }): () => Promise<BridgeConnection> {
  let opened: Promise<BridgeConnection> | undefined;
  const forget = (): void => {
    opened = undefined;
  };
  const open = async (): Promise<BridgeConnection> => {
    const connection = await openForAgents(context, args);
    connection.on("ended", forget);
    return connection;
  };
  return () => {
    if (!opened) {
      opened = open();
      opened.catch(forget);
    }
    return opened;
  };
}
