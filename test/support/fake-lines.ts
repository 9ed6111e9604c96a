// How do a host and a keeper talk in memory? As over a unix socket: in order, a little later, and cut when one side dies.
import type { LineConnected, LineDoor, LineEvents, LineSocket } from "../../src/platform/agent-world.ts";
import type { FakeProcess, Machine } from "./fake-world.ts";

type Attach = (socket: LineSocket) => LineEvents;
type Life = Pick<FakeProcess, "enter" | "onDeath" | "state">;

export interface ProcessLines {
  listen(path: string, attach: Attach): LineDoor;
  connect(path: string, attach: Attach): Promise<LineConnected>;
}

export interface FakeLines {
  of(life: Life): ProcessLines;
  /** Somebody removed it. */
  remove(path: string): void;
}

interface End {
  life: Life;
  open: boolean;
  events: LineEvents;
  peer: End | undefined;
  socket: LineSocket;
}

/** A power of two: sums of it are exact, and so are the times of a virtual clock. */
const LATER_MS = 0.125;

export function createFakeLines({ plan }: Pick<Machine, "plan">): FakeLines {
  const doors = new Map<string, { life: Life; attach: Attach }>();

  // Seen in order: a frozen process finds what was said first, and then the end.
  const closed = (end: End): void =>
    end.life.enter(() => {
      if (!end.open) return;
      end.open = false;
      end.events.closed();
    });
  const make = (life: Life): End => {
    let ending = false;
    const end: End = {
      life,
      open: true,
      peer: undefined,
      events: { line() {}, closed() {} },
      socket: {
        send(line) {
          if (!end.open || ending) return;
          const deliver = (to: End): void => to.life.enter(() => to.open && to.events.line(line));
          plan(LATER_MS, () => end.peer?.open && deliver(end.peer));
        },
        end() {
          if (ending) return;
          ending = true;
          const { line: _, ...rest } = end.events;
          end.events = { line() {}, ...rest };
          plan(LATER_MS, () => {
            closed(end);
            if (end.peer) closed(end.peer);
          });
        },
      },
    };
    life.onDeath(() => {
      end.open = false;
      plan(LATER_MS, () => end.peer && closed(end.peer));
    });
    return end;
  };

  return {
    remove: (path) => void doors.delete(path),
    of: (life) => ({
      listen(path, attach) {
        const door = { life, attach };
        doors.set(path, door);
        // A dead process leaves its socket's name behind, and nobody answers there.
        return {
          look() {
            const now = doors.get(path);
            if (!now) return "gone";
            return now === door ? "ours" : "taken";
          },
          listenAgain: () => void doors.set(path, door),
          close: () => void (doors.get(path) === door && doors.delete(path)),
        };
      },
      async connect(path, attach) {
        const door = doors.get(path);
        if (!door || door.life.state === "dead" || life.state === "dead") return { kind: "refused" };
        const [ours, theirs] = [make(life), make(door.life)];
        ours.peer = theirs;
        theirs.peer = ours;
        // A frozen one is connected to by the system, and says nothing.
        door.life.enter(() => {
          theirs.events = door.attach(theirs.socket);
        });
        ours.events = attach(ours.socket);
        return { kind: "open", socket: ours.socket };
      },
    }),
  };
}
