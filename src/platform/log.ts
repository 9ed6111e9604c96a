// Where do notices of a process go that nobody watches? Into five files of 1 MiB each, the newest without a number.
import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { checkPrivate } from "./private.ts";
import type { Clock, Log } from "./world.ts";

const FILE_BYTES = 1024 * 1024;
const OLDER_FILES = 4;

function open(path: string): { fd: number; bytes: number } {
  const fd = openSync(path, "a", 0o600);
  checkPrivate(path, 0o600);
  return { fd, bytes: fstatSync(fd).size };
}

function shift(path: string): void {
  for (let number = OLDER_FILES - 1; number >= 0; number--) {
    try {
      renameSync(number === 0 ? path : `${path}.${number}`, `${path}.${number + 1}`);
    } catch {
      // Not there yet.
    }
  }
}

const line = (clock: Clock, level: string, message: string, data?: Record<string, unknown>): string =>
  `${JSON.stringify({ at: clock.iso(), level, message, ...(data ? { data } : {}) })}\n`;

export function createFileLog(clock: Clock, path: string): Log {
  let file = open(path);
  const write = (level: string, message: string, data?: Record<string, unknown>): void => {
    try {
      const text = line(clock, level, message, data);
      if (file.bytes + Buffer.byteLength(text) > FILE_BYTES) {
        shift(path);
        const next = open(path);
        // Last: a number that is closed and kept is soon another file's, or a socket's.
        closeSync(file.fd);
        file = next;
      }
      file.bytes += writeSync(file.fd, text);
    } catch {
      // A full disk must not end a host that works.
    }
  };
  return {
    info: (message, data) => write("info", message, data),
    warn: (message, data) => write("warn", message, data),
  };
}

/** For a process with somebody in front of it. */
export const createNoteLog = (note: (text: string) => void): Log => ({
  info() {},
  warn: (message, data) => note(data ? `${message} ${JSON.stringify(data)}` : message),
});
