// Which sessions does the next host bring back? A line for each that came into use or went: that is quicker than a new file.
import { join } from "node:path";
import type { Files, JournalFile } from "../platform/world.ts";

export interface InUse {
  /** As the last host left them. */
  names(): string[];
  /** Those that went last, newest first; not all of them. */
  gone(): string[];
  came(name: string): void;
  went(name: string): void;
}

/** Then the lines are written anew, one for each that is in use. */
const MOST_LINES = 10_000;
/** So many that went are remembered: whoever lists sessions mostly wants the newest. */
const MOST_GONE = 1_000;

/** `older`: a file in which earlier builds kept the same. */
export function createInUse(files: Files, directory: string, log = "in-use.log", older?: string): InUse {
  const path = join(directory, log);
  let names: Set<string> | undefined;
  /** Oldest first. */
  const gone = new Set<string>();
  let file: JournalFile | undefined;
  let lines = 0;

  const noteGone = (name: string): void => {
    gone.delete(name);
    gone.add(name);
    const [oldest] = gone;
    if (gone.size > MOST_GONE && oldest !== undefined) gone.delete(oldest);
  };

  /** As earlier builds kept it: what they left is adopted too. */
  const readOlder = (found: Set<string>): void => {
    const text = older === undefined ? undefined : files.readPrivate(join(directory, older));
    if (older === undefined || text === undefined) return;
    try {
      for (const name of JSON.parse(text)) found.add(String(name));
      files.replace(path, [...found].map((name) => `+${name}\n`).join(""));
      files.remove(join(directory, older));
    } catch {
      // Broken, or a full disk: those that are left out are found by their name.
    }
  };
  const read = (): Set<string> => {
    const found = new Set<string>();
    files.eachLine(path, 0, (line) => {
      lines++;
      const [mark, name] = [line.slice(0, 1), line.slice(1)];
      if (mark === "+") {
        found.add(name);
        gone.delete(name);
      } else {
        found.delete(name);
        noteGone(name);
      }
    });
    readOlder(found);
    return found;
  };
  const known = (): Set<string> => {
    names ??= read();
    return names;
  };
  /** What could not be written yet: it is tried again with the next line. */
  const unwritten: string[] = [];
  const keep = (line: string): void => {
    unwritten.push(line);
    try {
      if (lines++ > MOST_LINES) {
        file?.close();
        file = undefined;
        const all = [...[...gone].map((name) => `-${name}\n`), ...[...known()].map((name) => `+${name}\n`)];
        files.replace(path, all.join(""));
        lines = all.length;
        unwritten.length = 0;
        return;
      }
      file ??= files.journal(path);
      for (let next = unwritten[0]; next !== undefined; next = unwritten[0]) {
        file.append(next);
        unwritten.shift();
      }
    } catch {
      // A full disk: until there is room the next host finds some of them only by their name.
    }
  };

  return {
    names: () => [...known()],
    gone() {
      known();
      return [...gone].reverse();
    },
    came(name) {
      if (known().has(name)) return;
      known().add(name);
      gone.delete(name);
      keep(`+${name}`);
    },
    went(name) {
      if (!known().delete(name)) return;
      noteGone(name);
      keep(`-${name}`);
    },
  };
}
