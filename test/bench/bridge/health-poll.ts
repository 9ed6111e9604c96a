// Since when does a host answer again? One raw connection after another, a millisecond apart.

export interface Beat {
  /** When the request began, and when its answer was there. */
  askedAt: number;
  answeredAt: number;
  /** Which host: the time of its takeover, or null for a first one. */
  failoverAt: string | null;
}

const REQUEST = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
const SPACING_MS = 1;
/** A connection in the queue of a host that dies is told so; this is for the one that is not. */
const PATIENCE_MS = 100;
const BODY = /^HTTP\/1\.1 200 .*"lastFailoverAt":(?:null|"([^"]+)")/s;

/** The host's answer, or undefined for anything but a 200. */
export function askHealth(port: number): Promise<Beat | undefined> {
  const askedAt = performance.now();
  return new Promise((resolve) => {
    let text = "";
    const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    const end = (): void => {
      clearTimeout(timer);
      resolve(undefined);
    };
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => void socket.write(REQUEST),
        data(socket, bytes) {
          text += bytes.toString("latin1");
          const found = BODY.exec(text);
          if (!found) return;
          resolve({ askedAt, answeredAt: performance.now(), failoverAt: found[1] ?? null });
          socket.end();
        },
        close: end,
        error: end,
        connectError: end,
      },
    }).catch(end);
  });
}

/** Polls until a host other than `old` answers, and tells every answer of the old one. */
export async function nextHost(port: number, old: string | null, limitMs: number, heardOld: (beat: Beat) => void) {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    const beat = await askHealth(port);
    if (beat && beat.failoverAt !== old) return beat;
    if (beat) heardOld(beat);
    await Bun.sleep(SPACING_MS);
  }
  throw new Error(`No new host answered on port ${port} within ${limitMs} ms`);
}
