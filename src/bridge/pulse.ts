// Who is still there? One beat for all sockets of a host: pings out, silence counted.
import { awakeMs, isPingPulse, livenessOf, PULSE_MS } from "../core/liveness.ts";
import type { Clock, Socket } from "../platform/world.ts";

export interface Peer {
  socket: Socket;
  /** Silence so far, in time that this process was awake. */
  silentMs: number;
  stale?(): void;
}

export function startPulse(clock: Clock, peers: () => Iterable<Peer>): () => void {
  let pulse = 0;
  let last = clock.elapsed();
  let cancel = clock.after(PULSE_MS, beat);

  function beat(): void {
    const now = clock.elapsed();
    const passed = awakeMs(now - last);
    last = now;
    pulse++;
    for (const peer of [...peers()]) {
      peer.silentMs += passed;
      const liveness = livenessOf(peer.silentMs);
      if (liveness === "gone") peer.socket.cut();
      else if (liveness === "stale") peer.stale?.();
      if (isPingPulse(pulse)) peer.socket.ping();
    }
    cancel = clock.after(PULSE_MS, beat);
  }

  return () => cancel();
}
