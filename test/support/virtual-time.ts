// What happens next, and when? Events in order of time, then of planning; microtasks are drained after each.
import { drainMicrotasks } from "bun:jsc";
import type { Cancel } from "../../src/platform/world.ts";

interface Entry {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

export interface VirtualTime {
  readonly now: number;
  /** Plans an event this many ms from now. */
  plan(ms: number, run: () => void): Cancel;
  /** Runs the next event that is due until then; false when there is none. */
  step(until: number): boolean;
  /** Runs everything due within this time. */
  advance(ms: number): void;
  /** Runs on until it holds. */
  until(holds: () => boolean, limitMs?: number): void;
  /** Runs on until the promise has ended, and gives or throws how it did. */
  wait<Value>(promise: Promise<Value>, limitMs?: number): Value;
}

const LIMIT_MS = 60_000;

const isBefore = (left: Entry, right: Entry): boolean =>
  left.at < right.at || (left.at === right.at && left.order < right.order);

export function createVirtualTime(): VirtualTime {
  const heap: Entry[] = [];
  let now = 0;
  let planned = 0;

  const at = (index: number): Entry => heap[index] as Entry;
  const swap = (one: number, other: number): void => {
    const kept = at(one);
    heap[one] = at(other);
    heap[other] = kept;
  };
  const rise = (from: number): void => {
    let index = from;
    for (let parent = (index - 1) >> 1; index > 0 && isBefore(at(index), at(parent)); parent = (index - 1) >> 1) {
      swap(index, parent);
      index = parent;
    }
  };
  const sink = (): void => {
    let index = 0;
    for (;;) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < heap.length && isBefore(at(child), at(least))) least = child;
      }
      if (least === index) return;
      swap(index, least);
      index = least;
    }
  };
  const pop = (): void => {
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return;
    heap[0] = last;
    sink();
  };

  const step = (until: number): boolean => {
    drainMicrotasks();
    for (;;) {
      const next = heap[0];
      if (next === undefined || next.at > until) return false;
      pop();
      if (!next.run) continue;
      now = Math.max(now, next.at);
      next.run();
      drainMicrotasks();
      return true;
    }
  };

  const until = (holds: () => boolean, limitMs = LIMIT_MS): void => {
    const deadline = now + limitMs;
    drainMicrotasks();
    while (!holds()) {
      if (!step(deadline)) throw new Error(`Still not so after ${limitMs} virtual ms: ${holds}`);
    }
  };

  return {
    get now() {
      return now;
    },
    plan(ms, run) {
      const entry: Entry = { at: now + Math.max(0, ms), order: planned++, run };
      heap.push(entry);
      rise(heap.length - 1);
      return () => {
        entry.run = undefined;
      };
    },
    step,
    advance(ms) {
      const end = now + ms;
      while (step(end));
      now = end;
    },
    until,
    wait<Value>(promise: Promise<Value>, limitMs?: number): Value {
      let ended: (() => Value) | undefined;
      promise.then(
        (value) => {
          ended = () => value;
        },
        (thrown) => {
          ended = () => {
            throw thrown;
          };
        },
      );
      until(() => ended !== undefined, limitMs);
      return (ended as unknown as () => Value)();
    },
  };
}
