// A clock that moves when told, and a terminal that remembers what it was given, in order.
import type { Output } from "../../src/surface/print.ts";

export function fakeClock() {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  return {
    elapsed: () => now,
    iso: () => `T${now}`,
    after(ms: number, run: () => void) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pending: () => timers.size,
    advance(ms: number) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).sort((left, right) => left.at - right.at)[0];
        if (!due) break;
        timers.delete(due);
        now = due.at;
        due.run();
      }
      now = end;
    },
  };
}

export function fakeOutput(options: Partial<Omit<Output, "out" | "err">> = {}) {
  const all: string[] = [];
  const only = (fd: string) =>
    all
      .filter((entry) => entry.startsWith(fd))
      .map((entry) => entry.slice(fd.length))
      .join("");
  return {
    stdoutIsTty: false,
    stderrIsTty: false,
    color: false,
    errColor: false,
    errRewrites: false,
    columns: 80,
    ...options,
    out: (text: string) => void all.push(`out:${text}`),
    err: (text: string) => void all.push(`err:${text}`),
    all,
    stdout: () => only("out:"),
    stderr: () => only("err:"),
  };
}

export const onTerminal = { stdoutIsTty: true, stderrIsTty: true, color: true, errColor: true, errRewrites: true };
