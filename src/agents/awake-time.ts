// What time is it for somebody who only counts waking hours? It ticks always: a sleep shows only against a planned tick.
import { type Awake, awakeAt, nextTick } from "../core/awake.ts";
import type { Cancel, Clock } from "../platform/world.ts";

export interface AwakeTime {
  now(): number;
  /** Something changed: `nextDue` is asked again. */
  plan(): void;
  end(): void;
}

export function createAwakeTime(clock: Clock, nextDue: () => number, tick: (now: number) => void): AwakeTime {
  let awake: Awake = { sumMs: 0, since: clock.elapsed(), plannedMs: 0 };
  let cancel: Cancel = () => {};
  let over = false;

  const now = (): number => awakeAt(awake, clock.elapsed());
  const plan = (): void => {
    cancel();
    if (over) return;
    awake = nextTick(awake, clock.elapsed(), nextDue());
    cancel = clock.after(awake.plannedMs, () => {
      tick(now());
      plan();
    });
  };
  return {
    now,
    plan,
    end() {
      over = true;
      cancel();
    },
  };
}
