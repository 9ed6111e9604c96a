// How do the two ends of a WebSocket behave? Ordered, late, and as Bun's were measured to close.
import type { Socket, SocketEvents } from "../../src/platform/world.ts";
import type { ProcessLife } from "./fake-process.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface End {
  readonly socket: Socket;
  readonly life: ProcessLife;
  isOpen(): boolean;
  /** From here on what the other end sends is heard. */
  hear(events: SocketEvents): void;
  /** Puts an event of this end in the order of what arrives here. */
  arrive(run: () => void): void;
  /** Its process is gone: nothing is told on this side. */
  crash(): void;
}

const CRASH = 1006;

interface Wire {
  time: VirtualTime;
  latencyMs(): number;
}

interface Inner extends End {
  state: "open" | "closing" | "closed";
  message(text: string): void;
  pong(): void;
  ended(code: number, reason: string): void;
}

function createEnd(wire: Wire, life: ProcessLife, isServer: boolean, peer: () => Inner): Inner {
  let events: SocketEvents | undefined;
  let clearAt = 0;
  const transmit = (run: (to: Inner) => void): void => peer().arrive(() => run(peer()));

  const end: Inner = {
    life,
    state: "open",
    isOpen: () => end.state === "open",
    hear(told) {
      events = told;
    },
    arrive(run) {
      clearAt = Math.max(clearAt, wire.time.now + wire.latencyMs());
      wire.time.plan(clearAt - wire.time.now, () => life.enter(run));
    },
    message(text) {
      if (end.state === "open") events?.message(text);
    },
    pong() {
      if (end.state === "open") events?.pong();
    },
    ended(code, reason) {
      if (end.state === "closed") return;
      end.state = "closed";
      events?.closed(code, reason);
    },
    crash() {
      if (end.state === "closed") return;
      end.state = "closed";
      transmit((to) => to.ended(CRASH, ""));
    },
    socket: {
      send(text) {
        if (end.state === "open") transmit((to) => to.message(text));
      },
      ping() {
        if (end.state !== "open") return;
        // The other side's runtime answers, without its program.
        transmit((to) => {
          if (to.isOpen()) end.arrive(() => end.pong());
        });
      },
      close(code, reason) {
        if (end.state !== "open") return;
        end.state = "closing";
        transmit((to) => {
          to.ended(code, reason);
          end.arrive(() => end.ended(code, reason));
        });
        // Bun tells a server's end of its own close at once, a client's only when the other side has answered.
        if (isServer) end.ended(code, reason);
      },
      cut() {
        if (end.state === "closed") return;
        end.state = "closing";
        transmit((to) => to.ended(CRASH, ""));
        if (isServer) end.ended(CRASH, "");
        else end.arrive(() => end.ended(CRASH, ""));
      },
    },
  };
  return end;
}

export function createPair(wire: Wire, client: ProcessLife, server: ProcessLife): { client: End; server: End } {
  const ends: { client: Inner; server: Inner } = {
    client: createEnd(wire, client, false, () => ends.server),
    server: createEnd(wire, server, true, () => ends.client),
  };
  for (const end of [ends.client, ends.server]) end.life.onDeath(end.crash);
  return ends;
}
