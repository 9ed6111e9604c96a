// Does the browser still answer? A beat every half second; what it means is decided in core.
import { BEAT_EVERY_MS, BEAT_LIMIT_MS, freshPulse, judgeBeat, type Pulse } from "../core/heartbeat.ts";
import type { Cancel, Clock } from "../platform/world.ts";

export interface HeartbeatOptions {
  clock: Pick<Clock, "after" | "elapsed">;
  beat(): Promise<unknown>;
  frozen(): void;
}

/** Beats overlap: waiting for one before the next would find a frozen browser a second later. */
export function startHeartbeat({ clock, beat, frozen }: HeartbeatOptions): Cancel {
  let pulse: Pulse = freshPulse;
  let over = false;
  const stops = new Set<Cancel>();
  const later = (ms: number, run: (lateMs: number) => void): Cancel => {
    const due = clock.elapsed() + ms;
    const stop = clock.after(ms, () => {
      stops.delete(stop);
      run(clock.elapsed() - due);
    });
    stops.add(stop);
    return () => {
      stops.delete(stop);
      stop();
    };
  };
  const judge = (answered: boolean, lateMs: number): void => {
    if (over) return;
    pulse = judgeBeat(pulse, { answered, lateMs });
    if (pulse.state !== "frozen") return;
    end();
    frozen();
  };
  const send = (): void => {
    if (over) return;
    const giveUp = later(BEAT_LIMIT_MS, (lateMs) => judge(false, lateMs));
    beat().then(
      () => {
        giveUp();
        judge(true, 0);
      },
      // A closed session is told by the browser's own event; here it is only no answer.
      () => undefined,
    );
    later(BEAT_EVERY_MS, send);
  };
  const end = (): void => {
    over = true;
    for (const stop of stops) stop();
    stops.clear();
  };
  send();
  return end;
}
