// How do these tests get a sandbox? A real thread on the real clock, ended with the test.
import { systemClock } from "../../src/platform/clock.ts";
import { createSandbox } from "../../src/plugin/sandbox.ts";
import type { LogEntry } from "../../src/protocol/plugin.ts";

export function openSandbox(deadlineMs = 100_000) {
  const logs: LogEntry[] = [];
  const waiting = new Set<() => void>();
  const sandbox = createSandbox({
    clock: systemClock,
    onLog(entry) {
      logs.push(entry);
      for (const look of waiting) look();
    },
  });
  return {
    sandbox,
    logs,
    run: (script: string) => sandbox.execute(script, deadlineMs),
    query: (path: string, more: object = {}) => sandbox.query({ path, ...more }, deadlineMs),
    /** Resolves once something with that text was logged. */
    logged: (text: string) =>
      new Promise<LogEntry>((resolve) => {
        const look = () => {
          const entry = logs.find(({ body }) => body.includes(text));
          if (entry) resolve(entry);
          if (entry) waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    [Symbol.dispose]: () => sandbox.end(),
  };
}
