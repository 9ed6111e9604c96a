// Is this still the process that was meant? A pid comes back; pid and start time together do not.
import { readFileSync } from "node:fs";
import type { ProcessMark } from "./agent-world.ts";
import { isRunning } from "./child.ts";

const START_TIME_FIELD = 19;

/** As the system counts it; empty where it does not tell. */
export function startTimeOf(pid: number): string {
  if (process.platform === "win32") return "";
  if (process.platform !== "linux") {
    const asked = Bun.spawnSync(["ps", "-o", "lstart=", "-p", String(pid)], {
      // Whoever compares it may live with another language or time zone.
      env: { PATH: process.env["PATH"] ?? "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return asked.stdout.toString().trim();
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything, brackets and spaces too.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_TIME_FIELD] ?? "";
  } catch {
    return "";
  }
}

export const markOf = (pid: number): ProcessMark => ({ pid, startTime: startTimeOf(pid) });

export const isAlive = ({ pid, startTime }: ProcessMark): boolean =>
  pid > 0 && isRunning(pid) && startTimeOf(pid) === startTime;

export const kill = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

export const ownMark = (): ProcessMark => markOf(process.pid);
