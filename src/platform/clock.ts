// What time is it, really?
import type { Clock } from "./world.ts";

// A longer timer would fire at once.
const LONGEST_MS = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  iso: (epochMs) => new Date(epochMs ?? Date.now()).toISOString(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, LONGEST_MS));
      signal?.addEventListener("abort", done, { once: true });
    });
  },
};
