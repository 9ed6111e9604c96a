// holdfast logs: a plugin's log. Following goes on across hosts: the gap is marked, and filled from the plugin's buffer.

import type { BridgeSession } from "../bridge/session.ts";
import { createLogTail, type LogTail } from "../core/log-gap.ts";
import type { Wanted } from "../core/resolve.ts";
import { listOf } from "../protocol/guards.ts";
import type { LogEntry, LogLevel } from "../protocol/plugin.ts";
import { isLogEntry } from "../protocol/plugin-frames.ts";
import { LOG_LEVELS } from "../protocol/vocabulary.ts";
import { list, toggle, whole } from "../surface/argument.ts";
import { isLoss } from "./ask-again.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { askAgain, describeWait, type SessionArgs, sessionArgs, timeoutArg } from "./plugin-session.ts";
import { within } from "./time-limit.ts";

const WHOLE_BUFFER = 1_000_000;

export const logs = holdfastCommand({
  name: "logs",
  args: {
    follow: toggle("Go on with what is logged from now on, whoever hosts"),
    count: whole("How many of the last entries to show", { min: 0, default: 50 }),
    level: list("Only these levels", LOG_LEVELS),
    ...sessionArgs,
    timeout: timeoutArg("queryLogs"),
  },
  short: { s: "session", f: "follow", n: "count" },
  examples: [
    { line: "holdfast logs", says: "The last 50 entries" },
    { line: "holdfast logs --follow --json", says: "Each entry as an event, as it is logged" },
  ],
  stands: ({ follow }) => follow,
  async run(args, context) {
    if (args.follow) return await followLogs(context, args);
    const levels = args.level.length > 0 ? { levels: args.level } : {};
    const found = await askAgain(context, args, "queryLogs", (session, timeoutMs) =>
      session.queryLogs({ count: args.count, direction: "tail", ...levels }, { timeoutMs }),
    );
    context.printer.json(found);
    for (const entry of entriesOf(found)) show(context, entry);
    return 0;
  },
});

interface FollowArgs extends SessionArgs {
  count: number;
  level: readonly LogLevel[];
}

const entriesOf = (payload: Record<string, unknown>): LogEntry[] => {
  const { entries } = payload;
  return listOf(isLogEntry)(entries) ? entries : [];
};

function show({ printer, world }: Context, entry: LogEntry): void {
  const { level, body, timestamp } = entry;
  if (printer.format === "json") return;
  const tone = level === "Error" ? "red" : level === "Warning" ? "yellow" : "dim";
  const at = timeOf(world, timestamp);
  printer.line(`${printer.paint.dim(at)} ${printer.paint[tone](printer.safe(level.padEnd(7)))} ${printer.safe(body)}`);
}

/** The furthest that a date can be. */
const LAST_SECOND = 8.64e12;

/** A plugin may say anything: what is no time is shown as it is. */
export const timeOf = ({ clock }: Pick<Context["world"], "clock">, seconds: number): string =>
  Math.abs(seconds) <= LAST_SECOND ? clock.iso(seconds * 1000) : String(seconds);

/** With --timeout it leaves after that long, and the plugin logs on. */
async function followLogs(context: Context, args: FollowArgs): Promise<number> {
  const { timeout } = args;
  const work = keepFollowing(context, args);
  if (timeout === undefined) return await work;
  return await within(context, timeout, work, `Stopped following after ${timeout} ms; the plugin logs on`);
}

async function keepFollowing(context: Context, args: FollowArgs): Promise<number> {
  const { printer, signal } = context;
  const connection = await context.open({ port: args.port, mode: "standing" });
  const tail = createLogTail();
  const tell = (entry: LogEntry): void => {
    tail.seen(entry);
    if (args.level.length > 0 && !args.level.some((level) => level === entry.level)) return;
    printer.event("log", { ...entry });
    show(context, entry);
  };
  let wanted: Wanted = args;
  for (let times = 0; !signal.aborted; times++) {
    const waiting = printer.progress(describeWait(wanted));
    const session = await connection.resolveSession(wanted, Number.MAX_SAFE_INTEGER).finally(waiting.done);
    wanted = { instance: session.info.instanceId, context: session.info.context };
    try {
      await followOne(context, session, tail, times === 0 ? args.count : undefined, tell);
    } catch (thrown) {
      if (!isLoss(thrown)) throw thrown;
    }
  }
  return 0;
}

/** `first`: how many old entries to show; undefined after a gap, which is filled. */
async function followOne(
  { printer }: Context,
  session: BridgeSession,
  tail: LogTail,
  first: number | undefined,
  tell: (entry: LogEntry) => void,
): Promise<void> {
  let early: LogEntry[] | undefined = [];
  const gone = Promise.withResolvers<never>();
  const stop = session.onPush(({ type, payload }) => {
    const { entry } = payload;
    if (type !== "logPush" || !isLogEntry(entry)) return;
    if (early) early.push(entry);
    else tell(entry);
  });
  session.onGone((error) => gone.reject(error));
  gone.promise.catch(() => undefined);
  try {
    await session.subscribe(["logPush"]);
    // What was pushed before the buffer's answer stands in the buffer too: the plugin answers in order.
    const buffer = entriesOf(await session.queryLogs({ count: first ?? WHOLE_BUFFER, direction: "tail" }));
    early = undefined;
    if (first !== undefined) for (const entry of first === 0 ? [] : buffer) tell(entry);
    else {
      const { entries, complete } = tail.missed(buffer);
      const gap = { filled: entries.length, complete };
      printer.event("gap", gap);
      if (printer.format === "text") {
        const lost = complete ? "" : ", older ones are lost";
        printer.note(
          `-- connected again: ${entries.length} entries filled in from the plugin's buffer${lost} --`,
          "dim",
        );
      }
      for (const entry of entries) tell(entry);
    }
    await gone.promise;
  } finally {
    stop();
  }
}
