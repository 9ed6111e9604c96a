// Does the other side still answer? Pings while connected; a peer that hangs is told once.
import { freshWatch, judge, PING_EVERY_MS, type Watch } from "../core/hung.ts";
import type { Clock, Socket } from "../platform/world.ts";

export interface PeerWatch {
  /** Anything at all came in. */
  heard(): void;
  stop(): void;
}

export function watchPeer(clock: Clock, socket: Socket, hung: () => void): PeerWatch {
  let watch: Watch = freshWatch;
  let answered = false;
  let due = 0;
  let cancel = (): void => {};
  const ping = (): void => {
    answered = false;
    socket.ping();
    due = clock.elapsed() + PING_EVERY_MS;
    cancel = clock.after(PING_EVERY_MS, beat);
  };
  const beat = (): void => {
    watch = judge(watch, { lateMs: clock.elapsed() - due, answered });
    if (watch.state === "hung") hung();
    else ping();
  };
  ping();
  return {
    heard() {
      answered = true;
    },
    stop: () => cancel(),
  };
}
