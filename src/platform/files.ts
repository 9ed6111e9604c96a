// How are private files kept? Directories 0700, files 0600; looser ones are an error that names the path.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { openJournalFile, readWholeLines } from "./journal-file.ts";
import { checkPrivate, hasModes } from "./private.ts";
import type { Files } from "./world.ts";

const isMissing = (thrown: unknown): boolean => (thrown as { code?: string }).code === "ENOENT";
const isThere = (thrown: unknown): boolean => (thrown as { code?: string }).code === "EEXIST";

function writeNew(path: string, text: string): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    const bytes = Buffer.from(text);
    let done = 0;
    while (done < bytes.length) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}

const temporary = (path: string): string => `${path}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`;

/** Any file of the user's; undefined when it is not there. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

const END_BYTES = 64 * 1024;
const REMOVAL_ROUNDS = 10;

/** The last of a file that somebody else appends to; empty when it is not there. */
export function readEnd(path: string): string {
  try {
    const fd = openSync(path, "r");
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, END_BYTES));
      const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString("utf8", 0, read);
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}

export const systemFiles: Files = {
  directory(path) {
    if (existsSync(path)) return checkPrivate(path, 0o700);
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      mkdirSync(path, { mode: 0o700 });
      if (hasModes) chmodSync(path, 0o700);
    } catch (thrown) {
      if (!isThere(thrown)) throw thrown;
    }
    checkPrivate(path, 0o700);
  },
  readPrivate(path) {
    try {
      checkPrivate(path, 0o600);
      return readFileSync(path, "utf8");
    } catch (thrown) {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    }
  },
  replace(path, text) {
    const made = temporary(path);
    try {
      writeNew(made, text);
      renameSync(made, path);
    } catch (thrown) {
      rmSync(made, { force: true });
      throw thrown;
    }
  },
  overwrite(path, text) {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      checkPrivate(path, 0o600);
      writeSync(fd, text, 0);
    } finally {
      closeSync(fd);
    }
  },
  createOnce(path, text) {
    const found = systemFiles.readPrivate(path);
    if (found !== undefined) return found;
    const made = temporary(path);
    try {
      writeNew(made, text);
      // `link` fails when the name is taken, and never shows a half-written file: the first one wins.
      linkSync(made, path);
      return text;
    } catch (thrown) {
      if (!isThere(thrown)) throw thrown;
      return systemFiles.readPrivate(path) ?? text;
    } finally {
      rmSync(made, { force: true });
    }
  },
  remove(path) {
    rmSync(path, { force: true });
  },
  journal: openJournalFile,
  eachLine(path, from, tell) {
    try {
      readWholeLines(path, from, tell);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
  },
  removeDirectory(path) {
    // Where somebody else removes something of it meanwhile, the runtime stops half-way and says nothing.
    for (let round = 0; round < REMOVAL_ROUNDS && existsSync(path); round++) {
      rmSync(path, { recursive: true, force: true });
    }
  },
  stats(path) {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && { bytes: stat.size, modifiedAt: stat.mtimeMs };
  },
  list(path) {
    try {
      return readdirSync(path);
    } catch (thrown) {
      if (isMissing(thrown)) return [];
      throw thrown;
    }
  },
};
