// How does a session look to a person? Text as it streams, a tool call as one line, and nothing that a terminal would obey.
import { describe, expect, test } from "bun:test";
import { createSessionView } from "../../src/commands/show-session.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { createPrinter } from "../../src/surface/print.ts";
import { fakeClock, fakeOutput, onTerminal } from "../surface/fakes.ts";

function openView(options: { terminal?: boolean; json?: boolean; own?: string } = {}) {
  const output = fakeOutput(options.terminal ? { ...onTerminal, color: false, errColor: false } : {});
  const clock = fakeClock();
  const printer = createPrinter({ terminal: output, format: options.json ? "json" : "text", clock });
  const view = createSessionView(printer, options.own);
  let seq = 0;
  const tell = (type: string, data: Record<string, unknown>, more: Partial<SessionRecord> = {}): void =>
    view.show({ seq: ++seq, at: "2030", type, data, ...more });
  const update = (said: Record<string, unknown>): void => tell("update", { update: said });
  const text = (said: string, kind = "agent_message_chunk"): void =>
    update({ sessionUpdate: kind, content: { type: "text", text: said } });
  return { output, clock, view, tell, update, text };
}

describe("a session on a screen", () => {
  test("[SE4] the answer goes to stdout as it came, thoughts and echoes do not, the rest to stderr", () => {
    const { output, text, tell } = openView();
    text("Hel");
    text("hmm", "agent_thought_chunk");
    text("echo", "user_message_chunk");
    text("lo\n");
    tell("prompt", { promptId: "p", text: "and now?" });
    tell("turn-ended", { promptId: "p", stopReason: "lost", message: "It is gone" });
    expect(output.stdout()).toBe("Hello\n");
    expect(output.stderr()).toBe("> and now?\nIt is gone\n");
  });

  test("[SE4] of one's own prompt only its own turn is shown, and its prompt is not echoed", () => {
    const { output, text, tell } = openView({ own: "mine" });
    tell("prompt", { promptId: "mine", text: "what I wrote" });
    text("still theirs");
    tell("turn-ended", { promptId: "theirs", stopReason: "end_turn" });
    tell("turn-started", { promptId: "mine" });
    text("mine");
    tell("turn-ended", { promptId: "mine", stopReason: "end_turn" });
    tell("turn-started", { promptId: "the next" });
    text("the next");
    expect(output.stdout()).toBe("mine");
    expect(output.stderr()).toBe("");
  });

  test("[SE4] a tool call is one line when it is over, however often it was told", () => {
    const { output, update, tell } = openView();
    update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "Read notes", status: "pending" });
    for (let time = 0; time < 5; time++)
      update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "in_progress" });
    update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
    update({ sessionUpdate: "tool_call", toolCallId: "t2", title: "Write notes", status: "in_progress" });
    update({ sessionUpdate: "tool_call_update", toolCallId: "t2", status: "failed" });
    update({ sessionUpdate: "tool_call", toolCallId: "t3", title: "Never ends", status: "in_progress" });
    tell("turn-ended", { stopReason: "cancelled" });
    const lines = output
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("["));
    expect(lines).toEqual(["[done] Read notes", "[failed] Write notes", "[…] Never ends"]);
  });

  test("[SE7] a death, a restore and a lost context are told", () => {
    const { output, tell } = openView();
    tell("agent-exited", { message: "Claude Code exited" });
    tell("restored", { how: "resume" });
    tell("context-lost", { message: "The earlier conversation is gone: no" });
    tell("idle-stopped", { reason: "idle", at: "12:00" });
    expect(output.stderr().split("\n").filter(Boolean)).toEqual([
      "Claude Code exited",
      "The session was restored",
      "The earlier conversation is gone: no",
      "Stopped for idleness at 12:00: idle",
    ]);
  });

  test("[SE4] what an agent says cannot move the cursor of a terminal, and in a pipe it is left as it is", () => {
    const evil = "a\x1b[2Jb\x07";
    const { output: terminal, text: onScreen, update } = openView({ terminal: true });
    onScreen(evil);
    update({ sessionUpdate: "tool_call", toolCallId: "t", title: "T\x1b]0;x\x07itle", status: "completed" });
    expect(terminal.stdout() + terminal.stderr()).not.toMatch(/\x1b\[2J|\x07|\x1b\]/);
    const { output: pipe, text: inPipe } = openView();
    inPipe(evil);
    expect(pipe.stdout()).toBe(evil);
  });

  test("[CM1] in JSON nobody is told to wait for an agent whose events come", () => {
    const { output, clock, tell, text } = openView({ json: true, own: "mine" });
    tell("turn-started", { promptId: "mine" });
    text("a word");
    clock.advance(5_000);
    expect(output.stderr()).toBe("");
    const slow = openView({ json: true, own: "mine" });
    slow.clock.advance(5_000);
    expect(slow.output.stderr()).toBe("Waiting for the agent (1 s)\n");
  });

  test("[SE5] JSON has every record as it is, with from where texts were merged, and nothing else on stdout", () => {
    const { output, tell, text } = openView({ json: true });
    text("a");
    tell("something-new", { deep: { er: 1 } }, { seq: 9, from: 4 });
    expect(
      output
        .stdout()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ seq: 1, at: "2030", type: "update" }),
      { seq: 9, from: 4, at: "2030", type: "something-new", data: { deep: { er: 1 } } },
    ]);
    expect(output.stderr()).toBe("");
  });

  test("[SE4] [SC5] what the policy denied is said, and why nobody was asked; what it allowed is not", () => {
    const { output, tell } = openView({ own: "mine" });
    const options = [
      { optionId: "go", kind: "allow_once" },
      { optionId: "no", kind: "reject_once" },
    ];
    for (const [permissionId, optionId, by] of [
      ["1", "no", "policy"],
      ["2", "go", "policy"],
      ["3", "no", "client-1"],
    ]) {
      const toolCall = { title: `Write ${permissionId}` };
      tell("permission-requested", { permissionId, toolCall, options, policy: "deny" });
      tell("permission-resolved", { permissionId, outcome: "selected", optionId, by });
    }
    expect(output.stderr()).toBe("[denied] Write 1: nobody was asked (--permissions deny)\n");
  });

  test("[CM1] whoever looks on is told that the session was closed; whoever asked only its own prompt is not", () => {
    const viewer = openView();
    viewer.tell("session-closed", {});
    expect(viewer.output.stderr()).toBe("The session was closed; a prompt brings it back\n");
    const asker = openView({ own: "mine" });
    asker.tell("session-closed", {});
    expect(asker.output.stderr()).toBe("");
  });
});
