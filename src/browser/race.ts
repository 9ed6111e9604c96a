// How does a call end that may never answer? With its result, a loss, its deadline or an abort, whichever is first.
import type { Clock } from "../platform/world.ts";

export interface Bounds {
  clock: Pick<Clock, "after">;
  ms: number;
  /** Made when the time is over. */
  late(): Error;
  /** The reason of the first that aborts is thrown. */
  signals: readonly AbortSignal[];
}

export function race<Value>(call: Promise<Value>, { clock, ms, late, signals }: Bounds): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const end = (finish: () => void) => {
      for (const stop of stops.splice(0)) stop();
      finish();
    };
    for (const signal of signals) {
      const onAbort = () => end(() => reject(signal.reason));
      if (signal.aborted) {
        // Nobody listens to the call any more.
        call.catch(() => undefined);
        return end(() => reject(signal.reason));
      }
      signal.addEventListener("abort", onAbort, { once: true });
      stops.push(() => signal.removeEventListener("abort", onAbort));
    }
    stops.push(clock.after(ms, () => end(() => reject(late()))));
    call.then(
      (value) => end(() => resolve(value)),
      (thrown) => end(() => reject(thrown)),
    );
  });
}

/** Waits, but never longer and never for a reason to fail: for closing what may be dead. */
export const giveUpAfter = (clock: Pick<Clock, "after">, ms: number, work: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    work.then(done, done);
  });
