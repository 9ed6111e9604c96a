// Can only we read this? A looser mode is an error that names the path and the remedy.
import { lstatSync } from "node:fs";
import { Fault } from "../protocol/fault.ts";

/** Windows has no such modes; there the profile folder is private already. */
export const hasModes = process.platform !== "win32";

export function checkPrivate(path: string, allowed: 0o700 | 0o600): void {
  if (!hasModes) return;
  const stat = lstatSync(path);
  const mode = stat.mode & 0o777;
  const wanted = allowed.toString(8).padStart(4, "0");
  if (stat.isSymbolicLink() || stat.uid !== process.getuid?.()) {
    throw new Fault("NOT_PERMITTED", `"${path}" is a link or belongs to another user; move it away and start again`, {
      path,
    });
  }
  if ((mode & ~allowed) !== 0) {
    const found = mode.toString(8).padStart(4, "0");
    throw new Fault("NOT_PERMITTED", `"${path}" is open to others (mode ${found}); run: chmod ${wanted} "${path}"`, {
      path,
    });
  }
}
