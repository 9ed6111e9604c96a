// How long ago was that, in waking hours? Hosts write down how their time went beside the wall clock; the next one reads it.
import { TICK_MS } from "./awake.ts";

/** By the wall clock it was `at` when so many waking milliseconds were counted. */
export interface Moment {
  at: number;
  awakeMs: number;
}

export interface AwakeRecord {
  /** Where stretches begin in which both went side by side: in front of each lies a sleep, a jump, or a time without a host. */
  stretches: readonly Moment[];
  /** The last that was written down. */
  end: Moment;
}

/** Two clocks that differ by less went side by side. */
const SAME_MS = 1_000;
const MOST_STRETCHES = 64;

export function isAwakeRecord(value: unknown): value is AwakeRecord {
  const isMoment = (each: unknown): boolean => {
    const { at, awakeMs } = (each ?? {}) as Partial<Moment>;
    return Number.isFinite(at) && Number.isFinite(awakeMs);
  };
  const { stretches, end } = (value ?? {}) as Partial<AwakeRecord>;
  return Array.isArray(stretches) && stretches.length > 0 && stretches.every(isMoment) && isMoment(end);
}

/** It is later now. */
export function later({ stretches }: AwakeRecord, now: Moment): AwakeRecord {
  const last = stretches.at(-1);
  const shiftMs = last ? now.at - last.at - (now.awakeMs - last.awakeMs) : Number.POSITIVE_INFINITY;
  if (Math.abs(shiftMs) <= SAME_MS) return { stretches, end: now };
  return { stretches: [...stretches, now].slice(-MOST_STRETCHES), end: now };
}

/** The next host begins: however long there was none, that counts as one tick. */
export function nextHost(record: AwakeRecord | undefined, at: number): AwakeRecord {
  if (!record) return { stretches: [{ at, awakeMs: 0 }], end: { at, awakeMs: 0 } };
  const gapMs = Math.min(Math.max(0, at - record.end.at), TICK_MS);
  return later(record, { at, awakeMs: record.end.awakeMs + gapMs });
}

/** The waking time at a moment of the wall clock. */
export function awakeMsAt({ stretches, end }: AwakeRecord, at: number): number {
  const found = stretches.map((stretch, index) => {
    const lengthMs = (stretches[index + 1] ?? end).awakeMs - stretch.awakeMs;
    return { offsetMs: at - stretch.at, lengthMs, awakeMs: stretch.awakeMs };
  });
  // A clock that was put back passes the same moment twice: the later one counts, which judges nobody too soon.
  const within = found.findLast(({ offsetMs, lengthMs }) => offsetMs >= 0 && offsetMs <= lengthMs + SAME_MS);
  if (within) return within.awakeMs + Math.min(within.offsetMs, within.lengthMs);
  const before = found.findLast(({ offsetMs }) => offsetMs >= 0);
  if (before) return before.awakeMs + before.lengthMs;
  const [first] = stretches;
  return (first?.awakeMs ?? 0) - Math.min((first?.at ?? at) - at, TICK_MS);
}
