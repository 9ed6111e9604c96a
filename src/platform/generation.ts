// Who may write what a port's hosts leave to each other? The newest of them, and nobody else: proven on each open, and
// again after each second, since a host may have been stopped and not know it.
import { join } from "node:path";
import { SessionDisconnectedError } from "../protocol/fault.ts";
import type { Generation } from "./agent-world.ts";
import type { Clock, Files, JournalFile } from "./world.ts";

const LOOK_MS = 1_000;
/** Written over in place, which needs no room on a full disk: it always has the same length. */
const DIGITS = 16;

/** `known`: the highest that others have heard of, should this file be damaged or never have been written. */
export function takeGeneration(files: Files, clock: Clock, directory: string, known = 0): Generation {
  const path = join(directory, "generation");
  const read = (): number => {
    const found = Number(files.readPrivate(path) ?? 0);
    return Number.isSafeInteger(found) ? found : 0;
  };
  const number = Math.max(read(), known) + 1;
  const text = `${String(number).padStart(DIGITS, "0")}\n`;
  let isWritten = false;
  let isOver = false;
  let isLost = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let tellLost = (): void => {};

  const write = (): void => {
    try {
      files.overwrite(path, text);
      isWritten = true;
    } catch {
      // A full disk must not keep a host from hosting. It is tried again before anything else is written.
    }
  };
  write();

  const isNewest = (): boolean => {
    if (isLost) return false;
    if (!isWritten && read() < number) write();
    lookedAt = clock.elapsed();
    const found = read();
    isLost = found > number;
    if (isLost && !isOver) tellLost();
    return !isLost;
  };

  return {
    number,
    isNewest,
    holds: () => !isOver && !isLost && (clock.elapsed() - lookedAt <= LOOK_MS || isNewest()),
    giveUp() {
      isOver = true;
    },
    onLost(tell) {
      tellLost = tell;
      if (isLost && !isOver) tell();
    },
  };
}

/** The same files; whoever has lost them writes nothing, and removes only what no newer host could miss. */
export function filesUnder(generation: Generation, files: Files): Files {
  const must = (may: boolean): void => {
    if (!may) throw new SessionDisconnectedError("", "this host leaves, and another one goes on with what it had");
  };
  const journal = (path: string): JournalFile => {
    must(generation.holds() && generation.isNewest());
    const file = files.journal(path);
    const append = (line: string): number => {
      must(generation.holds());
      return file.append(line);
    };
    return Object.create(file, { append: { value: append } });
  };
  const writing =
    <Words extends unknown[], Result>(write: (...words: Words) => Result) =>
    (...words: Words): Result => {
      must(generation.holds());
      return write(...words);
    };
  const removing = (remove: (path: string) => void) => (path: string) => {
    must(generation.isNewest());
    remove(path);
  };
  return Object.assign(Object.create(files) as Files, {
    journal,
    directory: writing(files.directory),
    replace: writing(files.replace),
    overwrite: writing(files.overwrite),
    createOnce: writing(files.createOnce),
    remove: removing(files.remove),
    removeDirectory: removing(files.removeDirectory),
  });
}
