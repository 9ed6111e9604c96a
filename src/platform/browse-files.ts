// Which files does a web task touch besides its own? Pictures it writes, and what it may give to a page.
import { realpathSync, writeFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

export const writePrivateBytes = (path: string, bytes: Uint8Array): void => writeFileSync(path, bytes, { mode: 0o600 });

/** The real file, if it lies below this directory; links count as what they lead to. */
export function fileBelow(directory: string, path: string): string | undefined {
  try {
    const real = realpathSync(resolve(directory, path));
    const way = relative(realpathSync(directory), real);
    return way === "" || way === ".." || way.startsWith(`..${sep}`) ? undefined : real;
  } catch {
    return undefined;
  }
}
