// What do the records of a session add up to? Folded as they are written, so that the next host need not read them all.
import type { SessionRecord } from "../protocol/agents.ts";
import { isOnRecord, noticeSource, type Source } from "./heard.ts";
import { type IdleFold, noticeAsked, noticeIdle } from "./idle-fold.ts";
import { KNOWN_PROMPTS } from "./known-prompts.ts";
import { settingsIn } from "./told-settings.ts";

type Data = Record<string, unknown>;

export interface OpenPrompt {
  promptId: string;
  /** Its record, which has the text. */
  seq: number;
  at: string;
  policy: string;
  clientId: string;
}

export interface FoldedPermission {
  permissionId: string;
  toolCall: unknown;
  options: unknown;
  /** Undefined: nobody has answered yet. */
  outcome?: Data;
}

export interface SessionFold {
  seq: number;
  at: string;
  agent: string;
  cwd: string;
  acpSessionId?: string;
  /** Of the record that says how it came to where it is open, or to nowhere. */
  openSeq: number;
  /** When it was made or restored last. */
  openedAt?: string;
  /** In which life of the agent it is open. */
  run?: string;
  /** What was heard last of each life of the agent; the newest lives. */
  heard?: Source[];
  /** It was loaded, and what comes until the next turn is history. */
  suppressed: boolean;
  closed: boolean;
  /** Made for its last prompt alone: whoever leaves it last when that is over closes it. */
  closes?: boolean;
  /** By id, and behind which record each begins; the newest ones. */
  prompts: [promptId: string, after: number][];
  open: OpenPrompt[];
  /** `run`: the life of the agent that it was sent to; `spoke`: the agent has done something in it. */
  started?: { promptId: string; at: string; run?: string; spoke?: true };
  /** Somebody took this one back before the agent had it. */
  cancelAsked?: string;
  /** The agent refused this prompt, since it did not know the session any more: it is sent once more. */
  again?: string;
  permissions: FoldedPermission[];
  toolCalls: string[];
  modeId?: string;
  options: [id: string, value: string | boolean][];
  /** What the agent offered when it was opened, as it said it. */
  modes?: unknown;
  configOptions?: unknown;
  /** What it is about. */
  title?: string;
  lastOutputAt?: string;
  idle: IdleFold;
}

/** Updates that belong to a turn; modes, titles and the like are true at any time. */
export const OF_A_TURN: ReadonlySet<unknown> = new Set([
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
]);

const KNOWN_PERMISSIONS = 64;
export const OPEN_STATES: ReadonlySet<unknown> = new Set(["pending", "in_progress"]);

export const createSessionFold = (): SessionFold => ({
  seq: 0,
  at: "",
  agent: "",
  cwd: "",
  openSeq: 0,
  suppressed: false,
  closed: false,
  prompts: [],
  open: [],
  permissions: [],
  toolCalls: [],
  options: [],
  idle: { pins: [] },
});

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null;

function noticeUpdate(fold: SessionFold, update: Data, at: string): void {
  fold.lastOutputAt = at;
  const { toolCallId, status } = update;
  if (typeof toolCallId === "string") {
    const others = fold.toolCalls.filter((each) => each !== toolCallId);
    if (OPEN_STATES.has(status)) fold.toolCalls = [...others, toolCallId];
    else if (status !== undefined && status !== null) fold.toolCalls = others;
  }
  const { modeId, options } = settingsIn(update);
  if (modeId !== undefined) fold.modeId = modeId;
  if (options) {
    fold.options = options;
    fold.configOptions = update["configOptions"];
  }
  const { sessionUpdate, title } = update;
  if (fold.started && OF_A_TURN.has(sessionUpdate)) fold.started.spoke = true;
  if (sessionUpdate === "session_info_update" && typeof title === "string") fold.title = title;
}

function noticeOffers(fold: SessionFold, { modes, configOptions }: Data): void {
  if (isData(modes)) fold.modes = modes;
  if (Array.isArray(configOptions)) fold.configOptions = configOptions;
}

const TITLE_LETTERS = 80;

/** How a conversation began, until its agent says what it is about. */
export const titleOf = (prompt: string): string =>
  prompt.trim().split("\n", 1)[0]?.slice(0, TITLE_LETTERS).trim() ?? "";

/** Modes and options as they are now. */
export function offersOf({ modes, modeId, configOptions }: Readonly<SessionFold>): Data {
  const now = isData(modes) ? { modes: modeId === undefined ? modes : { ...modes, currentModeId: modeId } } : {};
  return { ...now, ...(configOptions === undefined ? {} : { configOptions }) };
}

function lostAgent(fold: SessionFold): void {
  delete fold.run;
  fold.toolCalls = [];
  fold.suppressed = false;
}

function noticePrompt(fold: SessionFold, { seq, at, type, data, source }: SessionRecord): void {
  const promptId = String(data["promptId"]);
  if (type === "prompt") {
    const { policy, clientId } = data;
    fold.closes = data["closes"] === true;
    noticeAsked(fold.idle);
    fold.title ??= titleOf(String(data["text"] ?? ""));
    fold.open.push({ promptId, seq, at, policy: String(policy), clientId: String(clientId) });
    fold.prompts.push([promptId, seq - 1]);
    if (fold.prompts.length > KNOWN_PROMPTS) fold.prompts.shift();
  } else if (type === "turn-started") {
    const { run } = (source as Source | undefined) ?? {};
    fold.started = { promptId, at, ...(run === undefined ? {} : { run }) };
    fold.suppressed = false;
  } else {
    fold.open = fold.open.filter((each) => each.promptId !== promptId);
    if (fold.again === promptId) delete fold.again;
    if (fold.cancelAsked === promptId) delete fold.cancelAsked;
    if (fold.started?.promptId === promptId) delete fold.started;
  }
}

function noticePermission(fold: SessionFold, type: string, data: Data): void {
  const permissionId = String(data["permissionId"]);
  const others = fold.permissions.filter((each) => each.permissionId !== permissionId);
  const known = fold.permissions.find((each) => each.permissionId === permissionId);
  const { toolCall, options, by: _, permissionId: _id, ...outcome } = data;
  const next =
    type === "permission-requested"
      ? { permissionId, toolCall, options }
      : { permissionId, toolCall: null, options: known?.options ?? [], outcome };
  fold.permissions = [...others, next].slice(-KNOWN_PERMISSIONS);
}

/** Changes the fold: there is one per session, and this runs for every record. */
export function noticeRecord(fold: SessionFold, record: SessionRecord): void {
  const { seq, at, type, data } = record;
  fold.seq = seq;
  fold.at = at;
  const source = record["source"] as Source | undefined;
  // Never back: a host that has just adopted the agent has heard less of it than stands here.
  if (source && !isOnRecord(fold, source)) noticeSource(fold, source);
  switch (type) {
    case "update":
      return isData(data["update"]) ? noticeUpdate(fold, data["update"], at) : undefined;
    case "session-created":
      fold.agent = String(data["agent"]);
      fold.cwd = String(data["cwd"]);
      return;
    case "session-opened":
      fold.acpSessionId = String(data["acpSessionId"]);
      fold.openSeq = seq;
      fold.openedAt = at;
      noticeOffers(fold, data);
      if (source) fold.run = source.run;
      return;
    case "restoring":
      fold.suppressed = true;
      return;
    case "restored":
      fold.openedAt = at;
      noticeOffers(fold, data);
      if (source) fold.run = source.run;
      return;
    case "context-lost":
      fold.openSeq = seq;
      return lostAgent(fold);
    case "agent-exited":
      return lostAgent(fold);
    case "cancel-asked":
      fold.cancelAsked = String(data["promptId"]);
      return;
    case "session-forgotten":
      fold.again = String(data["promptId"]);
      delete fold.started;
      return lostAgent(fold);
    case "prompt":
    case "turn-started":
    case "withdrawn":
    case "turn-ended":
      fold.closed = false;
      return noticePrompt(fold, record);
    case "permission-requested":
    case "permission-resolved":
      if (fold.started) fold.started.spoke = true;
      return noticePermission(fold, type, data);
    case "session-closed":
      fold.closed = true;
      lostAgent(fold);
      fold.idle = { pins: [] };
      return;
    default:
      noticeIdle(fold.idle, record);
      if (type === "idle-stopped") lostAgent(fold);
  }
}
