// How much room is there, and how is some given back? Holes in a file that others still append to.
import { statfsSync } from "node:fs";

/** Infinity where nobody tells. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The first bytes become a hole: offsets stay as they are. False where that cannot be done. */
export async function punchHole(path: string, bytes: number): Promise<boolean> {
  if (bytes === 0 || process.platform !== "linux" || !Bun.which("fallocate")) return false;
  const child = Bun.spawn(["fallocate", "--punch-hole", "--offset", "0", "--length", String(bytes), path], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return (await child.exited) === 0;
}
