// Which processes are hosts and keepers? Whoever ends what an agent started ends none of these, though it started them.
import { readFileSync, writeFileSync } from "node:fs";
import { saysGone } from "./processes.ts";

/** Hidden verbs: nobody but us starts them, and they stand behind the program, or behind the runtime and the entry. */
const OWN = /^(?:[^\0]*\0){1,2}(?:background-host\0--port\0|keeper\0\/)/;
/** As `ps` shows it; a host that an agent's shell runs in the foreground has words of all kinds. */
const HOST_NAME = "holdfast-host";

/** Empty when it is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (thrown) {
    if (saysGone(thrown)) return "";
    throw thrown;
  }
}

export const isOwnKind = (pid: number | string): boolean =>
  Number(pid) === process.pid ||
  OWN.test(read(`/proc/${pid}/cmdline`)) ||
  read(`/proc/${pid}/comm`).trim() === HOST_NAME;

export function nameAsHost(): void {
  try {
    writeFileSync("/proc/self/comm", HOST_NAME);
  } catch {
    // Only Linux has names, and only Linux has sweeps.
  }
}
