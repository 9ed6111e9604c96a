// What did an agent start that neither its group nor its tag finds? Daemons that cleared their environment; by descent.
// A keeper gets them all, for it is the subreaper. When it is killed they become children of another: those that it had
// seen, and all that descends from them or from the agent, the next keeper still knows.
import type { HeldMarks, ProcessMark } from "./agent-world.ts";
import { descendantsOf } from "./descendants.ts";
import { isOwnKind } from "./own-kind.ts";
import { isAlive, isRunning, kill, markOf, statOf } from "./processes.ts";
import type { Subreaper } from "./subreaper.ts";
import { tagOf } from "./tagged.ts";

export interface Kin {
  /** Of earlier keepers. */
  strays: readonly ProcessMark[];
  /** Undefined: orphans are not ours. */
  subreaper: Subreaper | undefined;
}

export interface Strays {
  /** Those that live, with what was known before. */
  look(): readonly ProcessMark[];
  /** Ends all that descends from the agent, and tells how many that were. */
  sweep(): number;
}

const GROUP_FIELD = 2;

/** By mark, each with all that descends from it; hosts and keepers are nobody's to end. */
export const sweepMarks = (marks: readonly ProcessMark[]): number => {
  const roots = marks.filter(isAlive).map(({ pid }) => pid);
  const all = new Set([...roots, ...descendantsOf(roots, isOwnKind)]);
  return [...all].filter((pid) => !isOwnKind(pid) && isRunning(pid) && kill(pid, "SIGKILL")).length;
};

export function createStrays(tag: string, { agent, holder }: HeldMarks, { strays, subreaper }: Kin): Strays {
  let known = strays;

  /** Another agent's, whose keeper was killed: its next keeper knows it. */
  const isAnothers = (pid: number): boolean => {
    const own = tagOf(pid);
    return own !== undefined && own !== tag;
  };
  const isPassed = (pid: number): boolean => pid === holder.pid || isOwnKind(pid) || isAnothers(pid);
  const family = (): number[] => {
    const marked = [agent, ...known].filter(isAlive).map(({ pid }) => pid);
    const roots = subreaper ? [process.pid, ...marked] : marked;
    const found = descendantsOf(roots, isPassed).filter((pid) => {
      if (isRunning(pid)) return true;
      // Whoever is not our child is not ours to collect, and nothing happens.
      if (pid !== agent.pid) subreaper?.reap(pid);
      return false;
    });
    return [...new Set([...found, ...marked])];
  };
  const isStray = (pid: number): boolean =>
    pid !== agent.pid && statOf(pid)?.[GROUP_FIELD] !== String(agent.pid) && tagOf(pid) === undefined;

  return {
    look() {
      known = family()
        .filter(isStray)
        .sort((one, two) => one - two)
        .map(markOf);
      return known;
    },
    sweep: () => family().filter((pid) => kill(pid, "SIGKILL")).length,
  };
}
