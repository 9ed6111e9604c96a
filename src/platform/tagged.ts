// Which processes carry a tag in their environment? Shell tools of agents run in sessions of their own: a group proves nothing.
import { readdirSync, readFileSync } from "node:fs";
import { isOwnKind, nameAsHost } from "./own-kind.ts";
import { kill, saysGone } from "./processes.ts";

export const AGENT_TAG = "HOLDFAST_AGENT";

/** Somebody else's processes keep their environment to themselves. */
const isNotOurs = (thrown: unknown): boolean => /^(EACCES|EPERM)$/.test(String((thrown as { code?: string }).code));

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch (thrown) {
    if (saysGone(thrown) || isNotOurs(thrown)) return [];
    throw thrown;
  }
}

/** None where the system does not tell; only Linux does. */
export function processIds(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch (thrown) {
    if (saysGone(thrown)) return [];
    throw thrown;
  }
}

/** Whose it is, as far as its environment tells. */
export function tagOf(pid: number): string | undefined {
  const found = environmentOf(pid).find((each) => each.startsWith(`${AGENT_TAG}=`));
  return found?.slice(AGENT_TAG.length + 1);
}

/** Throws when it cannot look: that is no proof that there are none. */
export const taggedProcesses = (variable: string, value: string): number[] =>
  processIds().filter((pid) => environmentOf(pid).includes(`${variable}=${value}`));

/** Undefined: it cannot look. */
export function taggedIfSeen(variable: string, value: string): number[] | undefined {
  try {
    return taggedProcesses(variable, value);
  } catch {
    return undefined;
  }
}

/** Ends what still carries the tag, and tells how many that were. Hosts and keepers that inherited it are not the agent's. */
export const sweepTagged = (tag: string): number =>
  taggedProcesses(AGENT_TAG, tag).filter((pid) => !isOwnKind(pid) && kill(pid, "SIGKILL")).length;

/** A host that the shell of an agent started in the foreground. */
export function nameHostIfTagged(): void {
  if (process.env[AGENT_TAG] !== undefined) nameAsHost();
}
