// How does a session look to a person? Text as it streams, tool calls as one line each; in a pipe only the answer.
import type { SessionRecord } from "../protocol/agents.ts";
import type { Printer } from "../surface/print.ts";
import type { Progress } from "../surface/progress.ts";

type Update = Record<string, unknown> & { sessionUpdate?: unknown; content?: { type?: unknown; text?: unknown } };

const textOf = ({ content }: Update): string => (content?.type === "text" ? String(content.text) : "");

interface Question {
  toolCall?: { title?: string };
  options?: { optionId?: unknown; kind?: string }[];
  policy?: string;
}

export interface SessionView {
  show(record: SessionRecord): void;
  end(): void;
}

/** `own` is the prompt that the person in front of us wrote just now: other turns of the session are not the answer to it. */
/** Records whose message people must see. */
const TROUBLE: ReadonlySet<string> = new Set(["agent-exited", "context-lost", "session-forgotten"]);

export function createSessionView(printer: Printer, own?: string): SessionView {
  const titles = new Map<string, string>();
  const running = new Map<string, Progress>();
  const questions = new Map<string, Question>();
  // Until its turn begins: another may be first, and an agent takes its time to start. Then until it says something.
  let waiting = own === undefined ? undefined : printer.progress("Waiting for the agent");
  const wait = (label?: string): void => {
    waiting?.done();
    waiting = label === undefined ? undefined : printer.progress(label);
  };
  let wanted = own === undefined;
  const end = (): void => {
    for (const id of [...running.keys()]) over(id, "…");
    wait();
    printer.endLine();
  };
  const show = (record: SessionRecord): void => {
    const { seq, from, at, type, data } = record;
    printer.event(type, data, { seq, ...(from === undefined ? {} : { from }), at });
    // What comes is seen to come.
    if (printer.format === "json") return wait();
    if (type === "update") return wanted ? update(data["update"] as Update) : undefined;
    if (type === "turn-started") {
      wanted = own === undefined || data["promptId"] === own;
      if (wanted) wait("The agent works");
    }
    if (type === "permission-requested") questions.set(String(data["permissionId"]), data as unknown as Question);
    if (type === "permission-resolved") resolved(String(data["permissionId"]), data);
    if (type === "turn-ended") end();
    if (own === undefined && type === "prompt") printer.note(`> ${data["text"]}`, "cyan");
    if (type === "turn-ended" && data["message"] && data["promptId"] !== own)
      printer.note(String(data["message"]), "red");
    if (type === "idle-stopped") printer.note(`Stopped for idleness at ${data["at"]}: ${data["reason"]}`, "yellow");
    if (TROUBLE.has(type)) printer.note(String(data["message"]), "yellow");
    if (type === "restored") printer.note("The session was restored", "dim");
    if (own === undefined && type === "session-closed")
      printer.note("The session was closed; a prompt brings it back", "yellow");
  };
  return { show, end };

  /** What nobody was asked is said, or it looks like the agent's own whim. */
  function resolved(id: string, { by, optionId }: Record<string, unknown>): void {
    const question = questions.get(id);
    questions.delete(id);
    if (!question || by !== "policy") return;
    const option = question.options?.find((each) => each.optionId === optionId);
    if (option?.kind?.startsWith("allow")) return;
    const what = question.toolCall?.title ?? "What it wanted";
    printer.note(`[denied] ${what}: nobody was asked (--permissions ${question.policy})`, "yellow");
  }

  function update(said: Update): void {
    wait();
    if (said.sessionUpdate === "agent_message_chunk") return printer.untrusted(textOf(said));
    if (said.sessionUpdate !== "tool_call" && said.sessionUpdate !== "tool_call_update") return;
    const id = String(said["toolCallId"]);
    if (typeof said["title"] === "string") titles.set(id, said["title"]);
    const { status } = said;
    // Agents tell of the same state again and again; a call that runs for long has the status line.
    if (status === "in_progress" && !running.has(id)) running.set(id, printer.progress(titles.get(id) ?? id));
    if (status === "completed") over(id, "done");
    if (status === "failed") over(id, "failed");
  }

  function over(id: string, mark: string): void {
    running.get(id)?.done();
    running.delete(id);
    printer.note(`[${mark}] ${titles.get(id) ?? id}`, mark === "failed" ? "red" : "dim");
    titles.delete(id);
  }
}
