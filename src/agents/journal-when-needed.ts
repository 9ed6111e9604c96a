// When is a journal's file opened? When it is read or written: of most sessions that a host takes over all is known already.
import type { JournalFile } from "../platform/world.ts";

/** `bytes`: how long it is now; nobody else writes it. */
export function openedWhenNeeded(open: () => JournalFile, bytes: number): JournalFile {
  let file: JournalFile | undefined;
  const opened = (): JournalFile => {
    file ??= open();
    return file;
  };
  return {
    get bytes() {
      return file?.bytes ?? bytes;
    },
    eachLine(tell, from = 0) {
      if (file || from < bytes) opened().eachLine(tell, from);
    },
    lineAfter: (offset) => opened().lineAfter(offset),
    append: (line) => opened().append(line),
    readLines: (offset, maxBytes, enough) => opened().readLines(offset, maxBytes, enough),
    close: () => file?.close(),
  };
}
