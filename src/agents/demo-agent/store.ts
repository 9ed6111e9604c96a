// What does the demo agent remember? Its conversations, one file each, so that a new process knows them.
import { join } from "node:path";
import type { Files } from "../../platform/world.ts";

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

export interface ConversationStore {
  save(conversation: Conversation): void;
  read(sessionId: string): Conversation | undefined;
  list(): Conversation[];
  remove(sessionId: string): void;
}

const NAME = /^[0-9a-f-]{36}$/;

export function createConversationStore(files: Files, directory: string): ConversationStore {
  const file = (sessionId: string): string => join(directory, `${sessionId}.json`);
  const read = (sessionId: string): Conversation | undefined => {
    // Never a path of somebody's choice.
    if (!NAME.test(sessionId)) return undefined;
    const text = files.readPrivate(file(sessionId));
    return text === undefined ? undefined : JSON.parse(text);
  };
  return {
    save(conversation) {
      files.directory(directory);
      files.replace(file(conversation.sessionId), JSON.stringify(conversation));
    },
    read,
    list: () =>
      files
        .list(directory)
        .map((name) => read(name.replace(/\.json$/, "")))
        .filter((found) => found !== undefined),
    remove: (sessionId) => (NAME.test(sessionId) ? files.remove(file(sessionId)) : undefined),
  };
}
