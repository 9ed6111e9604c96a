// Is this still the process that was meant? A pid comes back; pid and start time together do not.
import { readFileSync } from "node:fs";
import type { Life, ProcessMark } from "./agent-world.ts";

const START_TIME_FIELD = 19;

/** Only these say that a process is not there; all else says that we could not look. */
export const saysGone = (thrown: unknown): boolean =>
  /^(ENOENT|ESRCH)$/.test(String((thrown as { code?: string }).code));

/** Its fields behind the name, which may hold anything, brackets and spaces too. Undefined: there is no such process. */
export function statOf(pid: number | string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch (thrown) {
    if (saysGone(thrown)) return undefined;
    throw thrown;
  }
}

/** As the system counts it; empty where it does not tell, undefined when there is no such process. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === "win32") return "";
  if (process.platform === "linux") return statOf(pid)?.[START_TIME_FIELD];
  const asked = Bun.spawnSync(["ps", "-o", "lstart=", "-p", String(pid)], {
    // Whoever compares it may live with another language or time zone.
    env: { PATH: process.env["PATH"] ?? "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return asked.stdout.toString().trim() || undefined;
}

/** Without a time when it cannot be looked up now: such a mark never proves that its process is dead while one runs. */
export function markOf(pid: number): ProcessMark {
  try {
    return { pid, startTime: startTimeOf(pid) ?? "" };
  } catch {
    return { pid, startTime: "" };
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // It may be somebody else's.
    return !saysGone(thrown);
  }
}

/** Ended, and not yet collected by its parent: in a container without an init that may be never. */
const isEnded = (fields: readonly string[] | undefined): boolean => /^[ZX]$/.test(fields?.[0] ?? "");

export function isRunning(pid: number): boolean {
  if (!isThere(pid)) return false;
  try {
    return process.platform !== "linux" || !isEnded(statOf(pid));
  } catch {
    return true;
  }
}

export function lifeOf({ pid, startTime: since }: ProcessMark): Life {
  if (pid <= 0 || !isRunning(pid)) return "dead";
  if (since === "" && process.platform !== "win32") return "unknown";
  try {
    return startTimeOf(pid) === since ? "alive" : "dead";
  } catch {
    return "unknown";
  }
}

/** Seen to be: what may be signalled. */
export const isAlive = (mark: ProcessMark): boolean => lifeOf(mark) === "alive";
/** Seen to be: what may be given up. */
export const isDead = (mark: ProcessMark): boolean => lifeOf(mark) === "dead";

export const kill = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

export const ownMark = (): ProcessMark => markOf(process.pid);
