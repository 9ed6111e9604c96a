// What does an editor see of a session's journal? Updates as they came, prompts of others, questions, and the ends of its turns.
import type { SessionRecord } from "../protocol/agents.ts";
import { OF_A_TURN } from "./session-fold.ts";

type Data = Record<string, unknown>;

export interface EditorView {
  /** Prompts of this editor: it has shown them already. */
  own: Set<string>;
  /** Up to here is history that it asked for. */
  replayUntil: number;
  /** It shows notices, as it said when it began. */
  showsNotices: boolean;
  /** Prompts whose turn has not begun. */
  texts: Map<string, string>;
  /** A turn of its was cancelled and answered: the rest of what the agent says of it comes too late. */
  isMuted: boolean;
}

export type Told =
  | { kind: "update"; update: Data; beside?: Data }
  | { kind: "asked"; permissionId: string; toolCall: unknown; options: unknown }
  | { kind: "answered"; permissionId: string }
  | { kind: "ended"; promptId: string; end: Data };

export const createEditorView = (showsNotices: boolean, replayUntil: number): EditorView => ({
  own: new Set(),
  replayUntil,
  showsNotices,
  texts: new Map(),
  isMuted: false,
});

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null;
const update = (told: Data): Told => ({ kind: "update", update: told });

/** A prompt stands where its turn begins: another turn may have run while it was queued. */
function promptOf(view: EditorView, promptId: string, seq: number): Told[] {
  const text = view.texts.get(promptId);
  view.texts.delete(promptId);
  if (text === undefined || (view.own.has(promptId) && seq > view.replayUntil)) return [];
  return [update({ sessionUpdate: "user_message_chunk", messageId: promptId, content: { type: "text", text } })];
}

/** Said by us, and by no agent. Notices are live; in history, and where an editor has none, only what must be seen stays. */
function notice(view: EditorView, seq: number, title: string, mustBeSeen = false): Told[] {
  const severity = "warning";
  if (view.showsNotices && seq > view.replayUntil) return [update({ sessionUpdate: "notice", severity, title })];
  if (!mustBeSeen) return [];
  const content = { type: "text", text: `[holdfast] ${title}\n` };
  return [update({ sessionUpdate: "agent_message_chunk", content, _meta: { holdfast: { notice: true } } })];
}

function turnEnded(view: EditorView, { seq, data }: SessionRecord): Told[] {
  const { promptId: id, ...end } = data;
  const promptId = String(id);
  const isOwn = view.own.has(promptId);
  const late = end["stopReason"] === "cancelled" ? [] : promptOf(view, promptId, seq);
  view.texts.delete(promptId);
  if (isOwn && seq > view.replayUntil && end["stopReason"] === "cancelled") view.isMuted = true;
  if (isOwn) return [...late, { kind: "ended", promptId, end }];
  return typeof end["message"] === "string" ? [...late, ...notice(view, seq, end["message"])] : late;
}

/** Changes the view: there is one per session, and this runs for every record. */
export function tellEditor(view: EditorView, record: SessionRecord): Told[] {
  const { seq, type, data } = record;
  const isLive = seq > view.replayUntil;
  const promptId = String(data["promptId"]);
  switch (type) {
    case "update": {
      const { update: said, ...beside } = data;
      if (!isData(said) || (isLive && view.isMuted && OF_A_TURN.has(said["sessionUpdate"]))) return [];
      return [{ kind: "update", update: said, ...(Object.keys(beside).length > 0 ? { beside } : {}) }];
    }
    case "prompt":
      view.texts.set(promptId, String(data["text"] ?? ""));
      return [];
    case "turn-started":
      view.isMuted = false;
      return promptOf(view, promptId, seq);
    case "turn-ended":
      return turnEnded(view, record);
    case "permission-requested": {
      const { permissionId, toolCall, options, policy } = data;
      if (!isLive || policy !== "ask") return [];
      return [{ kind: "asked", permissionId: String(permissionId), toolCall, options }];
    }
    case "permission-resolved":
      return [{ kind: "answered", permissionId: String(data["permissionId"]) }];
    case "context-lost":
      return notice(view, seq, String(data["message"]), true);
    case "agent-exited":
    case "session-forgotten":
      return notice(view, seq, String(data["message"]));
    default:
      return [];
  }
}
