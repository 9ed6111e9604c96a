// How does a host speak to a keeper? What it asks to be written is asked again until it is acknowledged, in order.
import type { LineConnected, LineEvents, LineSocket } from "../platform/agent-world.ts";
import type { Clock } from "../platform/world.ts";
import { type HostLine, KEEPER_VERSION, type KeeperLine, parseLine } from "./wire.ts";

export type Attached = Extract<KeeperLine, { told: "attached" }>;

export interface KeeperLinkEvents {
  attached(attached: Attached): void;
  exited(exit: Attached["exit"]): void;
  fenced(): void;
  /** The keeper is gone; we did not ask it to go. */
  lost(): void;
}

export interface KeeperLinkDeps {
  clock: Clock;
  generation: number;
  socket: string;
  connect(path: string, attach: (socket: LineSocket) => LineEvents): Promise<LineConnected>;
}

export interface KeeperLink {
  /** Whether a keeper answered. */
  open(): Promise<boolean>;
  write(key: string, line: string): void;
  send(line: HostLine): void;
  /** Undefined while something is on its way. */
  readonly inputEnd: number | undefined;
  close(): void;
}

const REFUSED_RETRY_MS = 500;
const ANSWER_MS = 3_000;

export function createKeeperLink(deps: KeeperLinkDeps, events: KeeperLinkEvents): KeeperLink {
  const unacknowledged = new Map<string, string>();
  let socket: LineSocket | undefined;
  let inputEnd = 0;
  let over = false;
  const closed = Promise.withResolvers<LineConnected>();

  const send = (line: HostLine): void => socket?.send(JSON.stringify(line));
  // One at a time: none may pass one that was refused, or a cancel would come before its prompt.
  const askFirst = (): void => {
    const [first] = unacknowledged;
    if (first) send({ verb: "input", key: first[0], line: first[1] });
  };

  const told = (line: KeeperLine, answered: (yes: boolean) => void): void => {
    switch (line.told) {
      case "attached":
        inputEnd = line.inputEnd;
        events.attached(line);
        askFirst();
        return answered(true);
      case "taken":
        inputEnd = line.end;
        // Of one that was asked twice the second is no news.
        if (unacknowledged.delete(line.key)) askFirst();
        return;
      case "refused":
        // Its disk is full: it is asked again until there is room.
        return void deps.clock.after(REFUSED_RETRY_MS, () => unacknowledged.has(line.key) && askFirst());
      case "exited":
        return events.exited(line.exit);
      case "fenced":
        over = true;
        socket = undefined;
        answered(false);
        return events.fenced();
    }
  };

  return {
    async open() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const connecting = deps.connect(deps.socket, (made) => ({
        line(text) {
          const line = over ? undefined : parseLine<KeeperLine>(text, "told");
          if (line) told(line, resolve);
        },
        closed() {
          resolve(false);
          if (socket !== made) return;
          socket = undefined;
          if (!over) events.lost();
        },
      }));
      void closed.promise.then(() => resolve(false));
      const connected = await Promise.race([connecting, closed.promise]);
      if (over) {
        // A frozen keeper may let us in when nobody wants to come in any more.
        void connecting.then((late) => (late.kind === "open" ? late.socket.end() : undefined));
        return false;
      }
      if (connected.kind === "refused") return false;
      socket = connected.socket;
      send({ verb: "attach", version: KEEPER_VERSION, generation: deps.generation });
      // A frozen one answers nobody.
      const cancel = deps.clock.after(ANSWER_MS, () => resolve(false));
      const answered = await promise;
      cancel();
      if (!answered && socket === connected.socket) {
        socket = undefined;
        connected.socket.end();
      }
      return answered;
    },
    write(key, line) {
      if (unacknowledged.has(key)) return;
      unacknowledged.set(key, line);
      if (unacknowledged.size === 1) askFirst();
    },
    send,
    get inputEnd() {
      return unacknowledged.size === 0 && socket ? inputEnd : undefined;
    },
    close() {
      over = true;
      socket?.end();
      socket = undefined;
      closed.resolve({ kind: "refused" });
    },
  };
}
