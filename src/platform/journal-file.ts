// How are lines kept so that a crash loses none? One `writeSync` each (measured: nothing lost, no fsync needed).
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { checkPrivate } from "./private.ts";
import type { JournalFile } from "./world.ts";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

function mustBePrivate(fd: number, path: string): void {
  try {
    if (fstatSync(fd).isFile()) checkPrivate(path, 0o600);
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** Tells whole lines until `tell` says stop; returns where the last whole one ended. */
function scanLines(fd: number, from: number, tell: (line: string, offset: number) => boolean): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const parts: Buffer[] = [];
  let offset = from;
  for (let at = from; ; ) {
    const read = readSync(fd, chunk, 0, CHUNK_BYTES, at);
    if (read === 0) return offset;
    at += read;
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && end < read; end = chunk.indexOf(NEWLINE, begin)) {
      const whole = parts.length > 0 ? Buffer.concat([...parts.splice(0), chunk.subarray(begin, end)]) : undefined;
      const goOn = tell(whole ? whole.toString("utf8") : chunk.toString("utf8", begin, end), offset);
      offset += (whole ? whole.length : end - begin) + 1;
      begin = end + 1;
      if (!goOn) return offset;
    }
    // Copied: the chunk is used again.
    if (begin < read) parts.push(Buffer.from(chunk.subarray(begin, read)));
  }
}

/** Of a file that somebody else appends to: it is read, and never cut. */
export function readWholeLines(path: string, from: number, tell: (line: string, offset: number) => void): void {
  const fd = openSync(path, "r");
  try {
    scanLines(fd, from, (line, offset) => {
      tell(line, offset);
      return true;
    });
  } finally {
    closeSync(fd);
  }
}

export function openJournalFile(path: string): JournalFile {
  const fd = openSync(path, "a+", 0o600);
  mustBePrivate(fd, path);
  let size = fstatSync(fd).size;
  let torn = false;
  let open = true;
  // The number of a closed file may be another file's by now.
  const mustBeOpen = (): void => {
    if (!open) throw new Error(`"${path}" is closed`);
  };

  const scan = (from: number, tell: (line: string, offset: number) => boolean): number => {
    mustBeOpen();
    return scanLines(fd, from, tell);
  };

  const cut = (to: number): void => {
    ftruncateSync(fd, to);
    size = to;
    torn = false;
  };

  // Only the tail can be torn: find the last line end without reading everything.
  const tornAt = (): number => {
    const tail = Buffer.alloc(CHUNK_BYTES);
    for (let end = size; end > 0; ) {
      const begin = Math.max(0, end - CHUNK_BYTES);
      const read = readSync(fd, tail, 0, end - begin, begin);
      const last = tail.subarray(0, read).lastIndexOf(NEWLINE);
      if (last >= 0) return begin + last + 1;
      end = begin;
    }
    return 0;
  };
  const whole = tornAt();
  if (whole < size) cut(whole);

  return {
    get bytes() {
      return size;
    },
    eachLine: (tell, from = 0) =>
      void scan(from, (line, offset) => {
        tell(line, offset);
        return true;
      }),
    lineAfter(offset) {
      let found: { line: string; offset: number } | undefined;
      // What it begins with may be the rest of a line.
      let skipped = false;
      scan(offset, (line, at) => {
        if (skipped) found = { line, offset: at };
        skipped = true;
        return found === undefined;
      });
      return found;
    },
    append(line) {
      mustBeOpen();
      const bytes = Buffer.from(`${line}\n`);
      if (torn) cut(size);
      const offset = size;
      try {
        let done = 0;
        while (done < bytes.length) done += writeSync(fd, bytes, done);
      } catch (thrown) {
        torn = true;
        try {
          cut(offset);
        } catch {
          // Cut before the next append, or at the next open; why the write failed matters more.
        }
        throw thrown;
      }
      size += bytes.length;
      return offset;
    },
    readLines(offset, maxBytes, enough) {
      scan(offset, (line, at) => !(enough(line) && at + line.length - offset >= maxBytes));
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}
