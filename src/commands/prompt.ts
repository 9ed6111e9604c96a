// holdfast prompt: send a prompt to an agent and stream its answer.
import type { BridgeConnection } from "../bridge/connection.ts";
import type { Cancel } from "../platform/world.ts";
import { Fault } from "../protocol/fault.ts";
import { POLICIES, SESSION_NAME } from "../protocol/vocabulary.ts";
import { choice, duration, text, toggle } from "../surface/argument.ts";
import {
  askUntilAnswered,
  collectEarly,
  type EarlyEvents,
  followSession,
  mustBeDone,
  noteMortal,
  openForAgents,
} from "./agent-session.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { createPermissionDialog } from "./permission-dialog.ts";
import { noStartArg } from "./plugin-session.ts";
import { inTime, lostHost, MAYBE_SENT, NOT_SENT, sendPrompt } from "./send-prompt.ts";
import { createSessionView } from "./show-session.ts";
import { timeLeft } from "./time-limit.ts";

export const prompt = holdfastCommand({
  name: "prompt",
  args: {
    agent: text("The agent, as holdfast agents lists it", { completes: "agent" }),
    text: text("The prompt; - reads it from stdin", { default: "-" }),
    session: text("A session to go on with, or the name of a new one that stays", {
      ...SESSION_NAME,
      optional: true,
      completes: "agent-session",
    }),
    cwd: text("Where the agent works (default: here)", { optional: true, completes: "directory" }),
    detach: toggle("Print the session's name and return; the agent works on"),
    permissions: choice(
      "What the agent may do without asking (default: ask on a terminal, else deny; deny with --detach and --json)",
      POLICIES,
      { optional: true },
    ),
    noStart: noStartArg,
    timeout: duration("Cancel the turn when it takes longer", { optional: true }),
  },
  positionals: ["agent", "text"],
  short: { s: "session", d: "detach" },
  examples: [
    { line: "holdfast prompt demo hello", says: "The embedded agent answers, without any account" },
    { line: "holdfast prompt demo 'stream 5 100' --format json", says: "Its events, one JSON object per line" },
    {
      line: "holdfast prompt demo 'stream 50 100' --session work --detach",
      says: "It works on; see holdfast attach work",
    },
  ],
  details:
    "Without --session a fresh session is made, and closed at the end unless --detach. A turn whose agent was lost exits 5 and is never sent again by itself.",
  endsItself: true,
  async run(args, context) {
    const text = await promptText(args.text, context);
    const cwd = context.absolute(args.cwd ?? ".");
    if (args.cwd !== undefined && !context.isDirectory(cwd)) {
      throw new Fault("USAGE", `There is no directory "${cwd}" for --cwd`, { argument: "cwd", value: args.cwd });
    }
    const leftMs = timeLeft(context.world, args.timeout);
    const connection = await inTime(context, args.timeout, leftMs(), openForAgents(context, args), NOT_SENT);
    const early = collectEarly(connection);
    const promptId = context.world.newId();
    const { agent, session: wanted, detach } = args;
    const asking = sendPrompt(context, connection, {
      verb: "prompt",
      agent,
      ...(wanted === undefined ? {} : { session: wanted }),
      cwd,
      text,
      policy: args.permissions ?? (canAsk(context) && !detach ? "ask" : "deny"),
      promptId,
      detach,
      attach: !detach,
      closes: wanted === undefined && !detach,
      env: context.plainEnv,
    });
    const asked = await inTime(context, args.timeout, leftMs(), asking, MAYBE_SENT).catch((thrown) => {
      const isLate = thrown instanceof Fault && thrown.code === "TIMEOUT";
      // Behind the prompt on the same line: where that is taken, this takes it back.
      if (isLate && wanted !== undefined) ignored(connection.askAgents({ verb: "cancel", session: wanted, promptId }));
      throw thrown;
    });
    const { session, after, attached, closes } = asked as PromptAnswer;
    if (detach) {
      context.printer.json({ session, promptId });
      context.printer.line(session);
      noteMortal(context);
      return 0;
    }
    let isClosed = wanted !== undefined;
    const ended = () => {
      isClosed ||= closes === true;
    };
    if (attached) early.answered();
    try {
      return await follow(context, connection, {
        session,
        after,
        promptId,
        timeoutMs: args.timeout,
        leftMs: leftMs(),
        early,
        ended,
      });
    } finally {
      if (!isClosed) await askUntilAnswered(context, connection, { verb: "close", session }).catch(ignoreLoss);
    }
  },
});

async function promptText(given: string, { printer, isInteractive, readStdin }: Context): Promise<string> {
  if (given === "-" && isInteractive) printer.note("Write the prompt, and end it with Ctrl-D", "dim");
  const text = given === "-" ? await readStdin() : given;
  if (text.trim() !== "") return text;
  throw new Fault("USAGE", "The prompt is empty; give its text, or - to read it from stdin", { argument: "text" });
}

/** In JSON there is nobody to ask. */
const canAsk = ({ isInteractive, printer }: Context): boolean => isInteractive && printer.format === "text";

const ignored = (work: Promise<unknown>): void => void work.catch(ignoreLoss);

const ignoreLoss = (thrown: unknown): void => {
  if (!(thrown instanceof Fault)) throw thrown;
};

/** So long an agent may take to end a turn that was cancelled. */
const DEAF_MS = 5_000;

/** An older host says less. */
interface PromptAnswer {
  session: string;
  after: number;
  attached?: boolean;
  closes?: boolean;
}

interface Asked {
  session: string;
  after: number;
  promptId: string;
  timeoutMs: number | undefined;
  /** What is left of it. */
  leftMs: number;
  early: EarlyEvents;
  ended(): void;
}

async function follow(context: Context, connection: BridgeConnection, asked: Asked): Promise<number> {
  const { printer, signal, world } = context;
  const { session, promptId, timeoutMs } = asked;
  const view = createSessionView(printer, promptId);
  const dialog = createPermissionDialog(context, connection, session);
  const notice = (said: string) => printer.note(said, "yellow");
  const over = new AbortController();
  const timers: Cancel[] = [];
  let why: "signal" | "timeout" | undefined;
  const cancel = (reason: "signal" | "timeout") => {
    if (why) return;
    why = reason;
    ignored(askUntilAnswered(context, connection, { verb: "cancel", session, promptId }));
    timers.push(world.clock.after(DEAF_MS, () => over.abort(givenUp(timeoutMs, "; the agent does not listen"))));
  };
  const onSignal = () => {
    if (context.isInteractive) printer.note("Cancelling the turn; Ctrl-C again leaves it at once", "dim");
    cancel("signal");
  };
  signal.addEventListener("abort", onSignal, { once: true });
  if (signal.aborted) onSignal();
  if (timeoutMs !== undefined) timers.push(world.clock.after(asked.leftMs, () => cancel("timeout")));
  let isWithdrawn = false;
  try {
    for await (const event of followSession(connection, session, asked.after, notice, over.signal, asked.early)) {
      view.show(event);
      dialog.told(event);
      if (event.type === "session-closed") break;
      if (event.data["promptId"] !== promptId) continue;
      isWithdrawn ||= event.type === "withdrawn";
      if (event.type !== "turn-ended") continue;
      asked.ended();
      // Ctrl-C or a closed pipe: whoever started us knows which, and with which code that ends.
      if (why === "signal") signal.throwIfAborted();
      // It may have ended by itself just before.
      if (why === "timeout" && event.data["stopReason"] === "cancelled") {
        if (isWithdrawn) throw withdrawn(timeoutMs);
        throw givenUp(timeoutMs, " and was cancelled");
      }
      mustBeDone(event.data);
      return 0;
    }
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown !== connection.ended?.error) throw thrown;
    throw lostHost(thrown);
  } finally {
    view.end();
    dialog.end();
    for (const stop of timers) stop();
    signal.removeEventListener("abort", onSignal);
  }
  throw new Fault("AGENT_LOST", "The session ended before the turn did; the outcome is unknown");
}

const withdrawn = (timeoutMs: number | undefined): Fault =>
  new Fault("TIMEOUT", `The prompt still waited in the queue after ${timeoutMs} ms; it was withdrawn, and never sent`);

const givenUp = (timeoutMs: number | undefined, what: string): Fault =>
  new Fault("TIMEOUT", `The turn took longer than ${timeoutMs} ms${what}`);
