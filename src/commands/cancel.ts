// holdfast cancel: end the turn that runs in a session.
import type { BridgeConnection } from "../bridge/connection.ts";
import { Fault } from "../protocol/fault.ts";
import { listAgentSessions } from "./agent-list.ts";
import { onceArgs, openForAgents, sessionNameArg } from "./agent-session.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { within } from "./time-limit.ts";

export const cancel = holdfastCommand({
  name: "cancel",
  args: {
    session: sessionNameArg,
    ...onceArgs,
  },
  positionals: ["session"],
  examples: [{ line: "holdfast cancel work", says: "The turn ends; the session stays" }],
  details: "Waits until the turn has ended. An agent that does not listen is left at it after 5 s, with exit code 6.",
  async run(args, context) {
    const { session } = args;
    const { printer } = context;
    const cancelled = await within(context, args.timeout, cancelTurn(context, args));
    printer.json({ session, cancelled });
    printer.line(cancelled ? `The turn in ${session} was cancelled` : `Nothing runs in ${session}`);
    return 0;
  },
});

const DEAF_MS = 5_000;
const LOOK_MS = 20;

/** Whether there was one, when it has ended. */
async function cancelTurn(
  context: Context,
  args: { session: string; port: number; noStart: boolean },
): Promise<boolean> {
  const { session } = args;
  const connection = await openForAgents(context, args);
  const { cancelled } = (await connection.askAgents({ verb: "cancel", session })) as { cancelled: boolean };
  if (cancelled) await untilOver(context, connection, session);
  return cancelled;
}

async function untilOver({ world }: Context, connection: BridgeConnection, session: string): Promise<void> {
  const { clock } = world;
  for (const since = clock.elapsed(); ; await clock.sleep(LOOK_MS)) {
    const found = (await listAgentSessions(connection)).find(({ name }) => name === session);
    // What waited behind it may run already.
    if (!found || found.turn === "idle" || found.queued > 0) return;
    if (clock.elapsed() - since < DEAF_MS) continue;
    const message = `The agent does not listen to the cancel; end the session with: holdfast close ${session}`;
    throw new Fault("TIMEOUT", message, { session });
  }
}
