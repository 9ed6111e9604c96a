// Which conversations can an editor come back to? Those in use and those on the shelf, the newest first, a page at a time.
import type { AgentSessionInfo, ShelvedSession } from "../../protocol/agents.ts";

export type ListedSession = Pick<AgentSessionInfo | ShelvedSession, "name" | "agent" | "cwd" | "title" | "updatedAt">;

const PAGE = 100;

/** Undefined: the cursor is none of ours. */
export function listPage(all: readonly ListedSession[], cwd: string | undefined, cursor: unknown) {
  const from = Number(cursor ?? 0);
  if (!Number.isSafeInteger(from) || from < 0) return undefined;
  const wanted = all
    // One without a prompt is nobody's conversation.
    .filter((each) => each.title !== undefined && (cwd === undefined || each.cwd === cwd))
    .toSorted((left, right) => (right.updatedAt ?? "").localeCompare(left.updatedAt ?? ""));
  const sessions = wanted.slice(from, from + PAGE).map(({ name, cwd: place, title, updatedAt }) => ({
    sessionId: name,
    cwd: place,
    ...(title === undefined ? {} : { title }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  }));
  return { sessions, ...(wanted.length > from + PAGE ? { nextCursor: String(from + PAGE) } : {}) };
}
