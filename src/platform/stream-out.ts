// How does a process that others depend on write its output? Without ever waiting for whoever reads it.

const LIMIT_BYTES = 64 * 1024 * 1024;

/** A reader that stalls would stop a host at 64 KiB of output; past our own limit it is dropped, and that is said. */
export function createStreamOut(closed: () => void, dropping: () => void): (text: string) => void {
  let waitingBytes = 0;
  let isDropping = false;
  process.stdout.on("error", closed);
  return (text) => {
    if (waitingBytes > LIMIT_BYTES) {
      if (!isDropping) dropping();
      isDropping = true;
      return;
    }
    isDropping = false;
    waitingBytes += text.length;
    process.stdout.write(text, () => {
      waitingBytes -= text.length;
    });
  };
}
