// Which processes carry a tag in their environment? Shell tools of agents run in sessions of their own: a group proves nothing.
import { readdirSync, readFileSync } from "node:fs";
import { kill } from "./processes.ts";

export const AGENT_TAG = "HOLDFAST_AGENT";

export function taggedProcesses(variable: string, value: string): number[] {
  const wanted = `${variable}=${value}`;
  let names: string[] = [];
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    // Only Linux tells.
  }
  return names
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(wanted);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Ends what still carries the tag, and tells how many that were. */
export const sweepTagged = (tag: string): number =>
  taggedProcesses(AGENT_TAG, tag).filter((pid) => kill(pid, "SIGKILL")).length;
