// What does the demo agent remember? Its conversations, one file each, a line for all that was said.
import { join } from "node:path";
import type { Files, JournalFile } from "../../platform/world.ts";

export interface Turn {
  user: string;
  agent: string;
}

export interface Conversation {
  sessionId: string;
  cwd: string;
  turns: Turn[];
  updatedAt: string;
}

/** As it is kept: where it takes place, a prompt, or the answer to the last one. */
type Line = { at: string } & ({ cwd: string } | { user: string } | { agent: string });

export interface ConversationStore {
  keep(sessionId: string, line: Line): void;
  read(sessionId: string): Conversation | undefined;
  list(): Conversation[];
  /** Nothing is added to it for now. */
  close(sessionId: string): void;
  remove(sessionId: string): void;
}

/** In the state directory. */
export const demoStore = (directory: string): string => join(directory, "demo-agent");

const END = ".ndjson";
const NAME = /^[0-9a-f-]{36}$/;

function add(conversation: Conversation, line: Line): void {
  conversation.updatedAt = line.at;
  if ("cwd" in line) conversation.cwd = line.cwd;
  if ("user" in line) conversation.turns.push({ user: line.user, agent: "" });
  const last = conversation.turns.at(-1);
  if ("agent" in line && last) last.agent = line.agent;
}

export function createConversationStore(files: Files, directory: string): ConversationStore {
  const open = new Map<string, JournalFile>();
  const file = (sessionId: string): string => join(directory, `${sessionId}${END}`);
  const opened = (sessionId: string): JournalFile => {
    const found = open.get(sessionId);
    if (found) return found;
    files.directory(directory);
    const made = files.journal(file(sessionId));
    open.set(sessionId, made);
    return made;
  };
  const read = (sessionId: string): Conversation | undefined => {
    // Never a path of somebody's choice.
    if (!NAME.test(sessionId)) return undefined;
    const conversation: Conversation = { sessionId, cwd: "", turns: [], updatedAt: "" };
    files.eachLine(file(sessionId), 0, (text) => add(conversation, JSON.parse(text)));
    return conversation.updatedAt === "" ? undefined : conversation;
  };
  const close = (sessionId: string): void => {
    open.get(sessionId)?.close();
    open.delete(sessionId);
  };
  return {
    keep: (sessionId, line) => void opened(sessionId).append(JSON.stringify(line)),
    read,
    list: () =>
      files
        .list(directory)
        .map((name) => read(name.slice(0, -END.length)))
        .filter((found) => found !== undefined),
    close,
    remove(sessionId) {
      if (!NAME.test(sessionId)) return;
      close(sessionId);
      files.remove(file(sessionId));
    },
  };
}
