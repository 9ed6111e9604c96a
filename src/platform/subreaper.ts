// Whose children do orphans become? The keeper's, so that it finds what an agent's daemons are, however they hid.
import { dlopen } from "bun:ffi";

export interface Subreaper {
  /** Collects a child that has ended and that nobody else waits for. */
  reap(pid: number): void;
}

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;

/** Undefined where the system cannot do it. It holds for what we have started already, too. */
export function becomeSubreaper(): Subreaper | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const { symbols } = dlopen("libc.so.6", {
      prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
      waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
    });
    if (symbols.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return undefined;
    return { reap: (pid) => void symbols.waitpid(pid, null, WNOHANG) };
  } catch {
    return undefined;
  }
}
