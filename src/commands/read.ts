// holdfast read: some events of a session, from any number on; it never stays.
import { isAgentSessionInfo } from "../protocol/agent-answers.ts";
import { listOf } from "../protocol/guards.ts";
import { isSessionRecord } from "../protocol/host-frames.ts";
import { duration, whole } from "../surface/argument.ts";
import { understood } from "./agent-list.ts";
import { askUntilAnswered, onceArgs, openForAgents, sessionNameArg } from "./agent-session.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { createSessionView } from "./show-session.ts";
import { within } from "./time-limit.ts";

export const read = holdfastCommand({
  name: "read",
  args: {
    session: sessionNameArg,
    after: whole("Begin behind this event", { min: 0, default: 0 }),
    count: whole("How many events at most", { min: 1, max: 10_000, default: 200 }),
    wait: duration("How long to wait for a new event when there is none", { default: "0" }),
    ...onceArgs,
  },
  positionals: ["session"],
  short: { n: "count" },
  examples: [
    { line: "holdfast read work", says: "Its first 200 events" },
    { line: "holdfast read work --after 17 --wait 10s --json", says: "What is new behind 17, as one document" },
  ],
  details: "The JSON document says with `next` where to go on, and with `turn` whether the agent still works.",
  async run(args, context) {
    const answer = await within(context, args.timeout + args.wait, collect(context, args));
    context.printer.json(answer);
    if (context.printer.format === "json") return 0;
    const view = createSessionView(context.printer);
    for (const event of answer.events) view.show(event);
    view.end();
    return 0;
  },
});

interface ReadArgs {
  session: string;
  after: number;
  count: number;
  wait: number;
  port: number;
  noStart: boolean;
}

const LOOK_MS = 200;
const isEvents = listOf(isSessionRecord);

async function collect(context: Context, args: ReadArgs) {
  const { session, after, count, wait } = args;
  const { clock } = context.world;
  const connection = await openForAgents(context, args);
  const until = clock.elapsed() + wait;
  for (;;) {
    const answer = await askUntilAnswered(context, connection, { verb: "read", session, after, count });
    const { turn, lastSeq } = understood(isAgentSessionInfo, answer);
    const events = understood(isEvents, (answer as { events?: unknown }).events);
    const next = events.at(-1)?.seq ?? after;
    if (events.length > 0 || clock.elapsed() >= until) return { session, turn, next, lastSeq, events };
    await clock.sleep(Math.min(LOOK_MS, until - clock.elapsed()), context.signal);
  }
}
