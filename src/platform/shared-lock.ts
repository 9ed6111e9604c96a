// Does anybody live elsewhere who shares our files? Whoever lives holds a lock, and the system ends it with its holder:
// also across namespaces, where no process of the other can be seen, and across machines as far as the file system does.
import { closeSync, constants, openSync } from "node:fs";

const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const AGAIN_MS = 50;
const TRIES = 20;

/** Only when it is needed: it takes a millisecond, and most commands lock nothing. */
type Ffi = typeof import("bun:ffi");
const load = () =>
  (process.getBuiltinModule("bun:ffi") as Ffi).dlopen("libc.so.6", { flock: { args: ["i32", "i32"], returns: "i32" } })
    .symbols;
let symbols: ReturnType<typeof load> | undefined;

function flock(fd: number, how: number): boolean {
  symbols ??= load();
  return symbols.flock(fd, how | LOCK_NB) === 0;
}

/** As long as we live. Whoever looks has it for an instant, so it is tried again. */
export function holdShared(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY);
  } catch {
    return;
  }
  const take = (triesLeft: number): void => {
    try {
      if (!flock(fd, LOCK_SH) && triesLeft > 0) setTimeout(() => take(triesLeft - 1), AGAIN_MS).unref();
    } catch {
      // Where there are no locks nobody finds one free either.
    }
  };
  take(TRIES);
}

/** Also when it cannot be told: only a lock that is free proves that nobody is there. */
export function isHeld(path: string): boolean {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDWR);
    return !flock(fd, LOCK_EX);
  } catch (thrown) {
    return (thrown as { code?: string }).code !== "ENOENT";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
