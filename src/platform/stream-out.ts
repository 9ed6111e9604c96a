// How does a process that others depend on write its events? Without ever waiting for whoever reads them.

const LIMIT_BYTES = 4 * 1024 * 1024;

/** A reader that stalls would stop the host at 64 KiB; past our own limit events are dropped, and their numbers show it. */
export function createStreamOut(closed: () => void): (text: string) => void {
  let waitingBytes = 0;
  process.stdout.on("error", closed);
  return (text) => {
    if (waitingBytes > LIMIT_BYTES) return;
    waitingBytes += text.length;
    process.stdout.write(text, () => {
      waitingBytes -= text.length;
    });
  };
}
