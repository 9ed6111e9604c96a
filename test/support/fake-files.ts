// What lies on the disk of one user? As platform/files.ts keeps it, without modes.
import type { Files } from "../../src/platform/world.ts";

export interface FakeFiles extends Files {
  readonly texts: ReadonlyMap<string, string>;
  /** The next writes throw, as on a full disk. */
  failWrites(times: number): void;
}

export function createFakeFiles(): FakeFiles {
  const texts = new Map<string, string>();
  let failing = 0;
  const write = (path: string, text: string): void => {
    if (failing > 0) {
      failing--;
      throw Object.assign(new Error(`ENOSPC: no space left on device, write "${path}"`), { code: "ENOSPC" });
    }
    texts.set(path, text);
  };
  return {
    texts,
    failWrites(times) {
      failing = times;
    },
    directory() {},
    readPrivate: (path) => texts.get(path),
    replace: write,
    overwrite(path, text) {
      const before = texts.get(path) ?? "";
      // What is there already needs no room.
      if (before.length >= text.length) texts.set(path, text + before.slice(text.length));
      else write(path, text);
    },
    createOnce(path, text) {
      const found = texts.get(path);
      if (found !== undefined) return found;
      write(path, text);
      return text;
    },
    stats: (path) => (texts.has(path) ? { bytes: texts.get(path)?.length ?? 0, modifiedAt: 0 } : undefined),
    remove: (path) => void texts.delete(path),
    journal(path) {
      const each = (from: number, tell: (line: string, offset: number) => boolean): void => {
        let offset = from;
        for (const line of (texts.get(path) ?? "").slice(from).split("\n").slice(0, -1)) {
          if (!tell(line, offset)) return;
          offset += line.length + 1;
        }
      };
      return {
        get bytes() {
          return texts.get(path)?.length ?? 0;
        },
        lineAfter(offset) {
          const from = (texts.get(path) ?? "").indexOf("\n", offset) + 1;
          let found: { line: string; offset: number } | undefined;
          if (from > 0)
            each(from, (line, at) => {
              found = { line, offset: at };
              return false;
            });
          return found;
        },
        eachLine: (tell, from = 0) =>
          each(from, (line, offset) => {
            tell(line, offset);
            return true;
          }),
        append(line) {
          const before = texts.get(path) ?? "";
          write(path, `${before}${line}\n`);
          return before.length;
        },
        readLines: (offset, maxBytes, enough) =>
          each(offset, (line, at) => !(enough(line) && at + line.length - offset >= maxBytes)),
        close() {},
      };
    },
    eachLine(path, from, tell) {
      let offset = from;
      for (const line of (texts.get(path) ?? "").slice(from).split("\n").slice(0, -1)) {
        tell(line, offset);
        offset += line.length + 1;
      }
    },
    removeDirectory(path) {
      for (const each of [...texts.keys()]) if (each.startsWith(`${path}/`)) texts.delete(each);
    },
    list: (path) => [
      ...new Set(
        [...texts.keys()]
          .filter((each) => each.startsWith(`${path}/`))
          .flatMap((each) => each.slice(path.length + 1).split("/")[0] ?? []),
      ),
    ],
  };
}
