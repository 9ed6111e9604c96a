// How long was this machine awake? A tick counts as what was planned at most, so a night's sleep counts as one tick.

export interface Awake {
  /** Counted up to the last tick. */
  sumMs: number;
  /** When the running tick began, by the clock. */
  since: number;
  /** Its planned length. */
  plannedMs: number;
}

export const TICK_MS = 30_000;

export const awakeAt = ({ sumMs, since, plannedMs }: Awake, elapsed: number): number =>
  sumMs + Math.min(Math.max(0, elapsed - since), plannedMs);

/** The next tick begins: until something is due, or as long as one tick may be. */
export function nextTick(awake: Awake, elapsed: number, dueAt: number): Awake {
  const sumMs = awakeAt(awake, elapsed);
  return { sumMs, since: elapsed, plannedMs: Math.min(Math.max(0, dueAt - sumMs), TICK_MS) };
}
