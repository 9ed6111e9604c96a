// holdfast cancel: end the turn that runs in a session.
import type { AgentSessionInfo } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";
import { listAgentSessions } from "./agent-list.ts";
import { askUntilAnswered, onceArgs, openForAgents, sessionNameArg } from "./agent-session.ts";
import { untilAnswered } from "./ask-again.ts";
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

type Look = () => Promise<AgentSessionInfo | undefined>;

/** Whether there was one, when it has ended. */
async function cancelTurn(
  context: Context,
  args: { session: string; port: number; noStart: boolean },
): Promise<boolean> {
  const { session } = args;
  const connection = await openForAgents(context, args);
  const look: Look = async () => {
    const all = await untilAnswered(context, connection, () => listAgentSessions(connection));
    return all.find(({ name }) => name === session);
  };
  for (;;) {
    // By its id: asked twice, it does not end the turn that waited behind it.
    const promptId = (await look())?.promptId;
    const request = { verb: "cancel" as const, session, ...(promptId === undefined ? {} : { promptId }) };
    const { cancelled } = (await askUntilAnswered(context, connection, request)) as { cancelled: boolean };
    if (cancelled) await untilOver(context, look, session, promptId);
    if (cancelled || promptId === undefined) return cancelled;
    // Its host went with our question, or it has just ended: another may run by now, and that is not the one meant.
    if ((await look())?.promptId !== promptId) return true;
  }
}

async function untilOver({ world }: Context, look: Look, session: string, promptId: string | undefined): Promise<void> {
  const { clock } = world;
  for (const since = clock.elapsed(); ; await clock.sleep(LOOK_MS)) {
    const found = await look();
    if (!found || found.turn === "idle" || found.promptId !== promptId) return;
    // An older host tells no id: what waited behind it may run already.
    if (promptId === undefined && found.queued > 0) return;
    if (clock.elapsed() - since < DEAF_MS) continue;
    const message = `The agent does not listen to the cancel; end the session with: holdfast close ${session}`;
    throw new Fault("TIMEOUT", message, { session });
  }
}
