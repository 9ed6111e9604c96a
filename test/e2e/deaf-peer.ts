// How does a client behave that asks and never reads? Raw TCP: a WebSocket of the runtime would read for us.

const FRAME_BYTES = 1024 * 1024;
const FRAMES = 24;

export interface DeafPeer {
  /** Asks for far more than the system buffers on the way back. */
  fill(): Promise<void>;
  close(): void;
}

/** Masked with zeros, so that the payload stays as it is. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

export async function openDeafPeer(port: number): Promise<DeafPeer> {
  const upgraded = Promise.withResolvers<void>();
  let left = Buffer.alloc(0);
  let drained = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(self) {
        self.pause();
        upgraded.resolve();
      },
      drain() {
        drained.resolve();
      },
    },
  });
  const send = async (bytes: Buffer): Promise<void> => {
    left = Buffer.from(bytes);
    while (left.length > 0) {
      drained = Promise.withResolvers();
      const written = socket.write(left);
      left = left.subarray(written);
      if (left.length > 0) await drained.promise;
    }
  };
  const key = Buffer.from("holdfast-e2e-key").toString("base64");
  socket.write(
    `GET /client HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  await upgraded.promise;
  await send(frame(JSON.stringify({ type: "list-sessions", requestId: "first" })));
  return {
    async fill() {
      // The host's answer carries the id, so each costs it as much to answer as us to ask.
      for (let index = 0; index < FRAMES; index++) {
        await send(frame(JSON.stringify({ type: "list-sessions", requestId: `${index}-`.padEnd(FRAME_BYTES, "x") })));
      }
    },
    close: () => void socket.terminate(),
  };
}
