// How does a session look to a person? Text as it streams, tool calls as one line each; in a pipe only the answer.
import type { SessionRecord } from "../protocol/agents.ts";
import type { Printer } from "../surface/print.ts";

type Update = Record<string, unknown> & { sessionUpdate?: unknown; content?: { type?: unknown; text?: unknown } };

const textOf = ({ content }: Update): string => (content?.type === "text" ? String(content.text) : "");

const marks: Readonly<Record<string, string>> = { completed: "done", failed: "failed", in_progress: "…", pending: "…" };

/** `own` is the prompt that the person in front of us wrote just now: other turns of the session are not the answer to it. */
export function createSessionView(printer: Printer, own?: string): (record: SessionRecord) => void {
  const titles = new Map<string, string>();
  let wanted = own === undefined;
  return (record) => {
    const { seq, from, at, type, data } = record;
    printer.event(type, data, { seq, ...(from === undefined ? {} : { from }), at });
    if (printer.format === "json") return;
    if (type === "update") return wanted ? update(data["update"] as Update) : undefined;
    if (own !== undefined && type === "turn-started") wanted = data["promptId"] === own;
    if (own === undefined && type === "prompt") printer.note(`> ${data["text"]}`, "cyan");
    if (type === "turn-ended" && data["message"] && data["promptId"] !== own)
      printer.note(String(data["message"]), "red");
    if (type === "idle-stopped") printer.note(`Stopped for idleness at ${data["at"]}: ${data["reason"]}`, "yellow");
    if (type === "agent-exited" || type === "context-lost") printer.note(String(data["message"]), "yellow");
    if (type === "restored") printer.note("The session was restored", "dim");
  };

  function update(said: Update): void {
    if (said.sessionUpdate === "agent_message_chunk") return printer.untrusted(textOf(said));
    if (said.sessionUpdate !== "tool_call" && said.sessionUpdate !== "tool_call_update") return;
    const id = String(said["toolCallId"]);
    if (typeof said["title"] === "string") titles.set(id, said["title"]);
    const status = String(said["status"] ?? "");
    if (status in marks)
      printer.note(`[${marks[status]}] ${titles.get(id) ?? id}`, status === "failed" ? "red" : "dim");
  }
}
