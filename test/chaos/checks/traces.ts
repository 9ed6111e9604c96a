// Did anything fall over? No stack trace on any stderr, nor in the logs of hosts and keepers.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Violation } from "../history.ts";

const TRACE =
  /^\s+at .*[:(].*\d+:\d+\)?$|\\n\s+at [^"\\]*:\d+:\d+|\/\$bunfs\/|^(Type|Reference|Range|Syntax|Internal)Error: |panic\(|Bun has crashed|Unhandled|Uncaught|Segmentation fault/m;

export const traceIn = (text: string): string | undefined => {
  const found = TRACE.exec(text);
  if (!found) return undefined;
  const from = Math.max(0, found.index - 200);
  return text.slice(from, found.index + 400).trim();
};

/** Logs and what agents and keepers said, each by its path. */
export function readLogs(state: string): Map<string, string> {
  const found = new Map<string, string>();
  const add = (directory: string, isWanted: (name: string) => boolean): void => {
    if (!existsSync(directory)) return;
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(isWanted)) {
      try {
        found.set(join(directory, name), readFileSync(join(directory, name), "utf8"));
      } catch {
        // Just removed.
      }
    }
  };
  add(join(state, "logs"), () => true);
  add(join(state, "ports"), (name) => /\/keepers\/[^/]+\/(log|err)$/.test(name));
  return found;
}

export function checkTraces(commands: readonly Command[], logs: ReadonlyMap<string, string>): Violation[] {
  const found: Violation[] = [];
  for (const { words, pid, err, at, endedAt = at } of commands) {
    const trace = traceIn(err);
    if (trace) found.push({ kind: "trace", text: `"${words.join(" ")}" (pid ${pid}) said: ${trace}`, at: endedAt });
  }
  for (const [path, text] of logs) {
    const trace = traceIn(text);
    if (!trace) continue;
    const at = Date.parse(/"at":"([^"]+)"/.exec(trace)?.[1] ?? "") || Date.now();
    found.push({ kind: "trace", text: `${path} has: ${trace}`, at });
  }
  return found;
}
