// What does an editor see of a journal? Record by record, live and as history.
import { expect, test } from "bun:test";
import { createEditorView, type EditorView, tellEditor } from "../../src/core/editor-view.ts";

const PROMPT = "11111111-aaaa";

/** Kinds of update, and of whatever else is told. */
function tell(view: EditorView, ...records: [type: string, data: Record<string, unknown>][]): string[] {
  return records.flatMap(([type, data]) =>
    tellEditor(view, { seq: ++seq, at: "", type, data }).map((told) => {
      if (told.kind !== "update") return told.kind;
      const { sessionUpdate, content } = told.update as { sessionUpdate: string; content?: { text: string } };
      return content ? `${sessionUpdate}: ${content.text}` : sessionUpdate;
    }),
  );
}
let seq = 0;

const chunk = (text: string): [string, Record<string, unknown>] => [
  "update",
  { update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
];
const turn = (promptId: string, stopReason = "end_turn"): [string, Record<string, unknown>][] => [
  ["turn-started", { promptId }],
  chunk("said"),
  ["turn-ended", { promptId, stopReason }],
];
const live = (): EditorView => createEditorView(false, 0);

test("[PX1] a prompt of somebody else is shown where its turn begins, one of its own is not", () => {
  const view = live();
  view.own.add(PROMPT);
  expect(
    tell(view, ["prompt", { promptId: PROMPT, text: "mine" }], ["prompt", { promptId: "other", text: "theirs" }]),
  ).toEqual([]);
  expect(tell(view, ...turn(PROMPT), ...turn("other"))).toEqual([
    "agent_message_chunk: said",
    "ended",
    "user_message_chunk: theirs",
    "agent_message_chunk: said",
  ]);
});

test("[PX1] as history its own prompts are shown too, and nobody is asked again", () => {
  const view = createEditorView(true, Number.MAX_SAFE_INTEGER);
  view.own.add(PROMPT);
  const asked: [string, Record<string, unknown>] = ["permission-requested", { permissionId: "p", policy: "ask" }];
  const lost: [string, Record<string, unknown>] = ["context-lost", { message: "gone" }];
  expect(tell(view, ["prompt", { promptId: PROMPT, text: "mine" }], asked, lost, ...turn(PROMPT))).toEqual([
    "agent_message_chunk: [holdfast] gone\n",
    "user_message_chunk: mine",
    "agent_message_chunk: said",
    "ended",
  ]);
});

test("[PX1] behind the answer to a cancelled prompt nothing of its turn is told, until the next one begins", () => {
  const view = live();
  view.own.add(PROMPT);
  tell(view, ...turn(PROMPT, "cancelled"));
  const title: [string, Record<string, unknown>] = ["update", { update: { sessionUpdate: "session_info_update" } }];
  expect(tell(view, chunk("late"), title)).toEqual(["session_info_update"]);
  expect(tell(view, ["turn-started", { promptId: "next" }], chunk("on"))).toEqual(["agent_message_chunk: on"]);
});

test("[PX1] a prompt that was withdrawn is never shown; one that failed before it began is", () => {
  const view = live();
  tell(view, ["prompt", { promptId: "a", text: "taken back" }], ["prompt", { promptId: "b", text: "failed" }]);
  expect(
    tell(view, ["withdrawn", { promptId: "a" }], ["turn-ended", { promptId: "a", stopReason: "cancelled" }]),
  ).toEqual([]);
  expect(tell(view, ["turn-ended", { promptId: "b", stopReason: "error", message: "no agent" }])).toEqual([
    "user_message_chunk: failed",
  ]);
});

test("[PX1] who shows notices gets what befell the session as notices", () => {
  const view = createEditorView(true, 0);
  expect(tell(view, ["agent-exited", { message: "Demo exited" }], ["context-lost", { message: "gone" }])).toEqual([
    "notice",
    "notice",
  ]);
  expect(tell(live(), ["agent-exited", { message: "Demo exited" }])).toEqual([]);
});

test("[PX1] only what waits for a person is asked, and its answer by another is told", () => {
  const view = live();
  expect(
    tell(
      view,
      ["permission-requested", { permissionId: "p", policy: "ask" }],
      ["permission-requested", { permissionId: "q", policy: "allow" }],
      ["permission-resolved", { permissionId: "p" }],
    ),
  ).toEqual(["asked", "answered"]);
});
