// What arrives of an agent's numbered lines while hosts die? Each is expected once, in its place.
import type { BridgeConnection } from "../../bridge/connection.ts";
import type { Clock } from "../../platform/world.ts";
import type { SessionRecord } from "../../protocol/agents.ts";
import { followSession } from "../agent-session.ts";

export interface LinesOutcome {
  lines: number;
  lost: number;
  doubled: number;
}

export interface Lines {
  /** Seen so far. */
  readonly count: number;
  /** Resolves at the next line. */
  next(): Promise<void>;
  /** How the turn ended, and when that was told. */
  readonly ended: Promise<{ stopReason: string; at: number }>;
  outcome(wanted: number): LinesOutcome;
}

const numbersIn = ({ type, data }: SessionRecord): number[] => {
  const { content } = (data["update"] ?? {}) as { content?: { text?: string } };
  if (type !== "update" || !content?.text) return [];
  return [...content.text.matchAll(/chunk (\d+)\n/g)].map(([, number]) => Number(number));
};

/** `seen`: how often each number came. Numbers that were never wanted make up for none that is missing. */
export function countLines(seen: ReadonlyMap<number, number>, wanted: number): LinesOutcome {
  const all = Array.from({ length: wanted }, (_, index) => index + 1);
  return {
    lines: seen.size,
    lost: all.filter((number) => !seen.has(number)).length,
    doubled: [...seen.values()].filter((times) => times > 1).length,
  };
}

export function followLines(
  clock: Clock,
  connection: BridgeConnection,
  asked: { session: string; after: number; promptId: string },
): Lines {
  const seen = new Map<number, number>();
  const waiters: (() => void)[] = [];
  const follow = async (): Promise<{ stopReason: string; at: number }> => {
    for await (const record of followSession(connection, asked.session, asked.after, () => {})) {
      const numbers = numbersIn(record);
      for (const number of numbers) seen.set(number, (seen.get(number) ?? 0) + 1);
      if (numbers.length > 0) for (const resolve of waiters.splice(0)) resolve();
      const { promptId, stopReason } = record.data;
      if (record.type === "turn-ended" && promptId === asked.promptId) {
        return { stopReason: String(stopReason), at: clock.elapsed() };
      }
    }
    return { stopReason: "lost", at: clock.elapsed() };
  };
  const ended = follow();
  ended.catch(() => undefined);
  return {
    get count() {
      return seen.size;
    },
    next: () => Promise.race([new Promise<void>((resolve) => waiters.push(resolve)), ended.then(() => undefined)]),
    ended,
    outcome: (wanted) => countLines(seen, wanted),
  };
}
