// holdfast exec: run code in a plugin. Never repeated by itself: whoever loses the connection does not know what ran.

import { Fault, SessionDisconnectedError } from "../protocol/fault.ts";
import type { LogEntry } from "../protocol/plugin.ts";
import { text } from "../surface/argument.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { type SessionArgs, sessionArgs, timeoutArg, useSession } from "./plugin-session.ts";

export const exec = holdfastCommand({
  name: "exec",
  args: {
    code: text("The code; - reads it from stdin"),
    ...sessionArgs,
    timeout: timeoutArg("execute"),
  },
  positionals: ["code"],
  short: { s: "session" },
  examples: [
    { line: "holdfast exec '1 + 1'", says: "Prints 2, with a JavaScript plugin connected" },
    { line: "echo 'console.log(6 * 7)' | holdfast exec -", says: "Code from stdin" },
    { line: "holdfast exec 'Object.keys(globalThis).length' --format json", says: "The result as one JSON document" },
  ],
  details:
    "Exit code 1 if the script failed, 5 if host or plugin were lost while it ran: the outcome is then unknown, and it is not sent again.",
  async run(args, context) {
    return await execute(context, args, args.code === "-" ? await context.readStdin() : args.code);
  },
});

export async function execute(context: Context, args: SessionArgs, script: string): Promise<number> {
  const { printer } = context;
  const { find, actionMs } = await useSession(context, args, "execute");
  const session = await find();
  const working = printer.progress(`Running in ${session.info.placeName || session.info.instanceId}`);
  try {
    const result = await session.exec(script, { timeoutMs: actionMs() });
    working.done();
    printer.json({ ...result, sessionId: session.info.sessionId });
    for (const entry of result.output) show(context, entry);
    if (result.success) {
      if ("value" in result) printer.untrusted(`${toText(result.value)}\n`);
      return 0;
    }
    if (printer.format === "text") printer.note(`error: ${result.error ?? "The script failed"}`, "red");
    return 1;
  } catch (thrown) {
    if (!(thrown instanceof SessionDisconnectedError)) throw thrown;
    const message = `${thrown.message}. Whether the script ran is unknown; it was not sent again`;
    throw new Fault("SESSION_DISCONNECTED", message, thrown.data, { cause: thrown });
  } finally {
    working.done();
  }
}

function show({ printer }: Context, { level, body }: LogEntry): void {
  if (printer.format === "json") return;
  if (level === "Warning" || level === "Error") printer.note(body, level === "Error" ? "red" : "yellow");
  else printer.untrusted(`${body}\n`);
}

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
