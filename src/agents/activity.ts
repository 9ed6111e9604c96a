// What is the agent doing in a session? When it spoke last, since when its turn runs, which tools it still uses.
import { OPEN_STATES, type SessionFold } from "../core/session-fold.ts";

export interface Activity {
  readonly times: { turnStartedAt: number; lastOutputAt: number };
  readonly openToolCalls: number;
  heard(): void;
  updated(update: Record<string, unknown>): void;
  /** Now, or when an earlier host wrote it down. */
  turnStarted(at?: string): void;
  /** Nobody waits for its tools any more. */
  toolsLost(): void;
}

/** `now` counts waking milliseconds, and `since` says how many of them ago something was written down. */
export function createActivity(
  fold: Readonly<SessionFold>,
  { now, since }: { now(): number; since(at: string): number },
): Activity {
  const waking = (at: string): number => now() - since(at);
  const toolCalls = new Set(fold.toolCalls);
  const { lastOutputAt: heardAt } = fold;
  // Never heard: then a silent turn is as old as its start, also under the next host.
  const times = { turnStartedAt: 0, lastOutputAt: heardAt === undefined ? Number.NEGATIVE_INFINITY : waking(heardAt) };
  const heard = (): void => {
    times.lastOutputAt = now();
  };
  return {
    times,
    get openToolCalls() {
      return toolCalls.size;
    },
    heard,
    updated({ toolCallId, status }) {
      if (typeof toolCallId !== "string") return;
      if (OPEN_STATES.has(status)) toolCalls.add(toolCallId);
      else if (status !== undefined && status !== null) toolCalls.delete(toolCallId);
    },
    turnStarted(at) {
      times.turnStartedAt = at === undefined ? now() : waking(at);
    },
    toolsLost: () => toolCalls.clear(),
  };
}
