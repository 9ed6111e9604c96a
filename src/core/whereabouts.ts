// May we judge what a process left by the processes that we see? Only where it ran where we run.
import type { Whereabouts } from "../protocol/whereabouts.ts";

/** `gone`: of this machine, before it was started anew: none of its processes can be left, whatever their numbers say. */
export type Origin = "here" | "gone" | "elsewhere";

/** Without a mark it is of the first release, or of a system that has none: ours, as it always was. */
export function originOf(left: Whereabouts | undefined, here: Whereabouts | undefined): Origin {
  if (!left || !here) return "here";
  if (left.boot === here.boot) return left.pids === here.pids && left.net === here.net ? "here" : "elsewhere";
  return left.machine === here.machine ? "gone" : "elsewhere";
}
