// Who descends from a process? As the system tells now: whoever lost a parent has another one already.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { saysGone, statOf } from "./processes.ts";
import { processIds } from "./tagged.ts";

const PARENT_FIELD = 1;

/** Empty when it is gone. */
function orNothing<Value>(look: () => Value[]): Value[] {
  try {
    return look();
  } catch (thrown) {
    if (saysGone(thrown)) return [];
    throw thrown;
  }
}

const told = (pid: number): number[] =>
  orNothing(() => readdirSync(`/proc/${pid}/task`)).flatMap((thread) =>
    orNothing(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" "))
      .filter(Boolean)
      .map(Number),
  );

const tellsChildren = (): boolean => existsSync(`/proc/self/task/${process.pid}/children`);

/** For systems that do not tell children: from all there are, once for a whole walk. */
function searched(): (pid: number) => number[] {
  const parents = new Map(processIds().map((pid) => [pid, Number(statOf(pid)?.[PARENT_FIELD])]));
  return (of) => [...parents].filter(([, parent]) => parent === of).map(([pid]) => pid);
}

/** All of them, without those that are passed over and their own. Throws when it cannot look. */
export function descendantsOf(roots: readonly number[], isPassed: (pid: number) => boolean): number[] {
  const childrenOf = tellsChildren() ? told : searched();
  const seen = new Set<number>();
  const waiting = [...roots];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of childrenOf(pid)) {
      if (seen.has(child) || isPassed(child)) continue;
      seen.add(child);
      waiting.push(child);
    }
  }
  return [...seen];
}
