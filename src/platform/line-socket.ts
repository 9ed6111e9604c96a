// How do a host and a keeper on the same machine talk? Lines over a unix socket; what does not fit waits here.
import { chmodSync, rmSync, statSync } from "node:fs";
import type { LineConnected, LineDoor, LineEvents, LineSocket } from "./agent-world.ts";

interface Held {
  socket: LineSocket;
  feed(bytes: Uint8Array): void;
  drain(): void;
  ended(): void;
}

type Raw = Bun.Socket<Held | undefined>;

const NEWLINE = 10;

function hold(raw: Raw, attach: (socket: LineSocket) => LineEvents): Held {
  const waiting: Uint8Array[] = [];
  let parts: Uint8Array[] = [];
  let over = false;
  let ending = false;
  const drain = (): void => {
    for (let first = waiting[0]; first; first = waiting[0]) {
      const written = raw.write(first);
      if (written < 0) return;
      if (written < first.length) {
        waiting[0] = first.subarray(written);
        return;
      }
      waiting.shift();
    }
    if (ending) raw.end();
  };
  const socket: LineSocket = {
    send(line) {
      if (over || ending) return;
      waiting.push(Buffer.from(`${line}\n`));
      if (waiting.length === 1) drain();
    },
    end() {
      ending = true;
      if (!over && waiting.length === 0) raw.end();
    },
  };
  const events = attach(socket);
  return {
    socket,
    drain,
    feed(bytes) {
      let from = 0;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        const line = Buffer.concat([...parts, bytes.subarray(from, at)]).toString("utf8");
        parts = [];
        from = at + 1;
        if (!over && !ending) events.line(line);
      }
      // Copied: the runtime uses its memory again.
      if (from < bytes.length) parts.push(new Uint8Array(bytes.subarray(from)));
    },
    ended() {
      if (over) return;
      over = true;
      events.closed();
    },
  };
}

const handlers = (attach: (socket: LineSocket) => LineEvents): Bun.SocketHandler<Held | undefined> => ({
  open(raw) {
    raw.data = hold(raw, attach);
  },
  data: (raw, bytes) => raw.data?.feed(bytes),
  drain: (raw) => raw.data?.drain(),
  close: (raw) => raw.data?.ended(),
  error: (raw) => raw.data?.ended(),
});

/** Takes the place of a socket that a dead process left. */
export function listenLines(path: string, attach: (socket: LineSocket) => LineEvents): LineDoor {
  const inode = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  const listen = () => {
    rmSync(path, { force: true });
    const server = Bun.listen<Held | undefined>({ unix: path, socket: handlers(attach), data: undefined });
    chmodSync(path, 0o600);
    return { server, own: inode() };
  };
  let { server, own } = listen();
  const look = (): "ours" | "taken" | "gone" => {
    const now = inode();
    if (now === undefined) return "gone";
    return now === own ? "ours" : "taken";
  };
  return {
    look,
    listenAgain() {
      // Whoever is connected stays.
      server.stop(false);
      ({ server, own } = listen());
    },
    close() {
      // To stop removes the name, whoever listens there now.
      if (look() === "taken") return server.unref();
      server.stop(true);
      rmSync(path, { force: true });
    },
  };
}

export async function connectLines(path: string, attach: (socket: LineSocket) => LineEvents): Promise<LineConnected> {
  try {
    const raw = await Bun.connect<Held | undefined>({ unix: path, socket: handlers(attach), data: undefined });
    return raw.data ? { kind: "open", socket: raw.data.socket } : { kind: "refused" };
  } catch {
    // Nobody listens there, or it is not there at all.
    return { kind: "refused" };
  }
}
