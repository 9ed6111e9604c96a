// holdfast prompt: send a prompt to an agent and stream its answer.
import { z } from "zod";
import { Policy, SessionName } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";
import { duration } from "../surface/command.ts";
import { exitOfTurn, followSession } from "./agent-session.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { openAsCommand } from "./plugin-session.ts";
import { createSessionView } from "./show-session.ts";

export const prompt = holdfastCommand({
  name: "prompt",
  args: z.object({
    agent: z.string().describe("The agent, as holdfast agents lists it"),
    text: z.string().default("-").describe("The prompt; - reads it from stdin"),
    session: SessionName.optional().describe("A session to go on with, or the name of a new one that stays"),
    cwd: z.string().optional().describe("Where the agent works (default: here)"),
    detach: z.boolean().default(false).describe("Print the session's name and return; the agent works on"),
    permissions: Policy.default("deny").describe("What to answer when the agent asks for permission"),
    noStart: z.boolean().default(false).describe("Fail instead of starting a host in the background"),
    timeout: duration().optional().describe("Cancel the turn when it takes longer"),
  }),
  positionals: ["agent", "text"],
  short: { s: "session", d: "detach" },
  examples: [
    { line: "holdfast prompt demo hello", says: "The embedded agent answers, without any account" },
    { line: "holdfast prompt demo 'stream 5 100' --format json", says: "Its events, one JSON object per line" },
  ],
  async run(args, context) {
    const text = args.text === "-" ? await context.readStdin() : args.text;
    const connection = await openAsCommand(context, args);
    const cwd = context.absolute(args.cwd ?? ".");
    const { agent, permissions: policy, session: wanted, detach } = args;
    const promptId = context.world.newId();
    const env = Object.fromEntries(
      Object.entries(context.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const request = { verb: "prompt" as const, agent, cwd, text, policy, promptId, detach, env };
    const asked = await connection.askAgents({ ...request, ...(wanted === undefined ? {} : { session: wanted }) });
    const { session, after } = asked as { session: string; after: number };
    if (detach) {
      context.printer.json({ session, promptId });
      context.printer.line(session);
      return 0;
    }
    const cancel = () => connection.askAgents({ verb: "cancel", session }).catch(() => undefined);
    context.signal.addEventListener("abort", cancel, { once: true });
    const code = await follow(context, followSession(connection, session, after), promptId);
    if (wanted === undefined) await connection.askAgents({ verb: "close", session });
    return code;
  },
});

async function follow(
  { printer }: Context,
  events: ReturnType<typeof followSession>,
  promptId: string,
): Promise<number> {
  const show = createSessionView(printer);
  for await (const event of events) {
    show(event);
    if (event.type === "turn-ended" && event.data["promptId"] === promptId) return exitOfTurn(event.data);
  }
  throw new Fault("AGENT_LOST", "The session ended before the turn did; the outcome is unknown");
}
