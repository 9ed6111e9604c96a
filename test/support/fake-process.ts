// What can befall a process? It can be killed, or stopped and let go on: its timers and sockets feel it as real ones would.
import type { Cancel, Clock } from "../../src/platform/world.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Far from zero, so that a mix-up of epoch and elapsed time shows. */
const EPOCH_MS = Date.UTC(2030, 0, 1);

export interface ProcessLife {
  readonly pid: number;
  readonly state: "running" | "frozen" | "dead";
  readonly clock: Clock;
  /** Runs it as an event of this process: at once, after a thaw, or never. */
  enter(run: () => void): void;
  /** SIGKILL. */
  kill(): void;
  /** SIGSTOP. */
  freeze(): void;
  /** SIGCONT: what was missed happens now, in order, late. */
  thaw(): void;
  onDeath(run: () => void): void;
}

/** `wallOffMs`: how wrong the machine's wall clock is. */
export function createLife(time: VirtualTime, pid: number, wallOffMs: () => number = () => 0): ProcessLife {
  const startedAt = time.now;
  const deaths: (() => void)[] = [];
  let state: ProcessLife["state"] = "running";
  let missed: (() => void)[] = [];

  const enter = (run: () => void): void => {
    if (state === "running") run();
    else if (state === "frozen") missed.push(run);
  };

  const after = (ms: number, run: () => void): Cancel => {
    let over = false;
    const cancel = time.plan(ms, () =>
      enter(() => {
        if (!over) run();
      }),
    );
    return () => {
      over = true;
      cancel();
    };
  };

  const now = (): number => EPOCH_MS + time.now + wallOffMs();
  const clock: Clock = {
    now,
    elapsed: () => time.now - startedAt,
    iso: (epochMs) => new Date(epochMs ?? now()).toISOString(),
    since: (iso) => Math.max(0, now() - Date.parse(iso)),
    after,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = () => {
          cancel();
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const cancel = after(ms, done);
        signal?.addEventListener("abort", done, { once: true });
      }),
  };

  return {
    pid,
    get state() {
      return state;
    },
    clock,
    enter,
    kill() {
      if (state === "dead") return;
      state = "dead";
      missed = [];
      for (const run of deaths) run();
    },
    freeze() {
      if (state === "running") state = "frozen";
    },
    thaw() {
      if (state !== "frozen") return;
      state = "running";
      const late = missed;
      missed = [];
      for (const run of late) time.plan(0, () => enter(run));
    },
    onDeath: (run) => void deaths.push(run),
  };
}
