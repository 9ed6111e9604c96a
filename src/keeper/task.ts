// What is a keeper to do with what it finds? Start the agent, go on with the one that runs, or leave.
import type { ProcessMark } from "../platform/agent-world.ts";
import type { KeeperState } from "./place.ts";

export type Task =
  | { kind: "start" }
  | { kind: "adopt"; earlier: KeeperState; agent: ProcessMark; holder: ProcessMark }
  /** Somebody keeps it already, or there is nothing left of it. */
  | { kind: "leave" };

export function taskOf(state: KeeperState | undefined, isDead: (mark: ProcessMark) => boolean): Task {
  if (!state) return { kind: "start" };
  const { keeper, exit, agent, holder } = state;
  if (!isDead(keeper) || exit) return { kind: "leave" };
  // A keeper that died before it had an agent left it to the next one.
  return agent && holder ? { kind: "adopt", earlier: state, agent, holder } : { kind: "start" };
}
