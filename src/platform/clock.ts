// What time is it, really?
import type { Clock } from "./world.ts";

// A longer timer would fire at once.
const LONGEST_MS = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  iso: (epochMs) => new Date(epochMs ?? Date.now()).toISOString(),
  since: (iso) => Math.max(0, Date.now() - Date.parse(iso)),
  after(ms, run) {
    if (ms <= 0) {
      // A timer of 0 takes a whole millisecond; this is the next turn of the loop.
      const turn = setImmediate(run);
      return () => clearImmediate(turn);
    }
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        cancel();
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const cancel = systemClock.after(ms, done);
      signal?.addEventListener("abort", done, { once: true });
    });
  },
};
