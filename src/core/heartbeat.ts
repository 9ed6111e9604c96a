// Is a browser frozen, or were we? Two beats in a row without an answer count only while our own timer was on time.

export const BEAT_EVERY_MS = 500;
export const BEAT_LIMIT_MS = 1_500;
const MISSES = 2;
/** So late our timer may be for a miss to count. */
const LATE_MS = 400;

export type Pulse = { state: "beating"; misses: number } | { state: "frozen" };

export const freshPulse: Pulse = { state: "beating", misses: 0 };

/** Told of each beat when its answer came or its limit was over, in the order they were sent. */
export function judgeBeat(pulse: Pulse, beat: { answered: boolean; lateMs: number }): Pulse {
  if (pulse.state === "frozen") return pulse;
  if (beat.answered || beat.lateMs >= LATE_MS) return freshPulse;
  const misses = pulse.misses + 1;
  return misses >= MISSES ? { state: "frozen" } : { state: "beating", misses };
}
