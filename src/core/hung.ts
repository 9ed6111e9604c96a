// Does the host hang, or did we sleep? Three pings without an answer count only while our own timer was on time.

export const PING_EVERY_MS = 5_000;
const PINGS_UNANSWERED = 3;
const LATE_MS = 1_000;

export type Watch = { state: "watching"; unanswered: number } | { state: "hung" };

export const freshWatch: Watch = { state: "watching", unanswered: 0 };

/** Called at each planned ping, before it is sent; `answered` tells whether anything came since the last one. */
export function judge(watch: Watch, tick: { lateMs: number; answered: boolean }): Watch {
  if (watch.state === "hung") return watch;
  if (tick.answered || tick.lateMs >= LATE_MS) return freshWatch;
  const unanswered = watch.unanswered + 1;
  return unanswered >= PINGS_UNANSWERED ? { state: "hung" } : { state: "watching", unanswered };
}
