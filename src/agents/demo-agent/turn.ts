// How does the demo agent take a turn? It streams, thinks, asks and runs tools as a real one does.
import type { Clock } from "../../platform/world.ts";
import type { Script } from "./script.ts";

export interface ShellRun {
  output: Promise<string>;
  kill(): void;
}

export interface TurnTools {
  clock: Clock;
  signal: AbortSignal;
  newId(): string;
  update(update: Record<string, unknown>): void;
  /** The kind of the option that was chosen, or undefined when it was cancelled. */
  ask(toolCall: Record<string, unknown>): Promise<string | undefined>;
  raw(line: string): void;
  /** In a session of its own, as the shell tools of real agents. */
  shell(command: string): ShellRun;
  die(code: number): void;
}

const text = (value: string) => ({ type: "text", text: value });

export async function takeTurn(script: Script, turns: number, tools: TurnTools): Promise<string> {
  const { clock, signal, update } = tools;
  let said = "";
  const say = (value: string): void => {
    said += value;
    update({ sessionUpdate: "agent_message_chunk", content: text(value) });
  };

  switch (script.kind) {
    case "stream":
      for (let number = 1; number <= script.count && !signal.aborted; number++) {
        say(`chunk ${number}\n`);
        if (number < script.count) await clock.sleep(script.everyMs, signal);
      }
      break;
    case "flood":
      for (let number = 1; number <= script.count && !signal.aborted; number++) {
        say(`${number}\n`);
        // Now and then the input is read too, or a cancel would never be heard.
        if (number % 1_000 === 0) await clock.sleep(0);
      }
      break;
    case "ask": {
      const toolCallId = tools.newId();
      const toolCall = { toolCallId, title: "Write to notes.txt", kind: "edit", status: "pending" };
      update({ sessionUpdate: "tool_call", ...toolCall });
      const kind = await tools.ask(toolCall);
      const allowed = kind?.startsWith("allow") ?? false;
      update({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
      if (kind !== undefined) say(allowed ? `allowed (${kind})\n` : `denied (${kind})\n`);
      break;
    }
    case "tool": {
      const toolCallId = tools.newId();
      update({ sessionUpdate: "tool_call", toolCallId, title: "Read notes.txt", kind: "read", status: "in_progress" });
      await clock.sleep(1, signal);
      const content = [{ type: "content", content: text("three lines") }];
      update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content });
      say("The tool is done\n");
      break;
    }
    case "shell":
      await runShell(script.command, tools, say);
      break;
    case "hang":
      await new Promise<never>(() => {});
      break;
    case "die":
      tools.die(script.code);
      await new Promise<never>(() => {});
      break;
    case "garbage":
      for (const line of ["this is no JSON", "{", '{"jsonrpc":"2.0"}', "[]", '{"id":"nobody","result":1}'])
        tools.raw(line);
      say("That was garbage\n");
      break;
    case "say":
      say(script.text);
      break;
    case "echo":
      update({ sessionUpdate: "agent_thought_chunk", content: text(`Turn ${turns}`) });
      say(`${script.text} (turn ${turns})\n`);
      break;
  }
  return said;
}

async function runShell(command: string, tools: TurnTools, say: (value: string) => void): Promise<void> {
  const { signal, update } = tools;
  const toolCallId = tools.newId();
  const title = `Run ${command}`;
  update({ sessionUpdate: "tool_call", toolCallId, title, kind: "execute", status: "in_progress" });
  const run = tools.shell(command);
  const cancelled = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const output = await Promise.race([run.output, cancelled]);
  if (output === undefined) run.kill();
  update({ sessionUpdate: "tool_call_update", toolCallId, status: output === undefined ? "failed" : "completed" });
  if (output !== undefined) say(output);
}
