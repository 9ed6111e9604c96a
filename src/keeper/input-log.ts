// What was written to the agent? Recorded before it is written and marked after it, so that nothing is written twice.
import type { Files, JournalFile } from "../platform/world.ts";

export interface Input {
  key: string;
  line: string;
}

type Entry = Input | { done: string };

const isEntry = (value: unknown): value is Entry => {
  if (typeof value !== "object" || value === null) return false;
  const { key, line, done } = value as Record<string, unknown>;
  return typeof done === "string" || (typeof key === "string" && typeof line === "string");
};

/** Undefined: damaged. It costs what it says, and nothing else. */
const parse = (text: string): Entry | undefined => {
  try {
    // What was given back is a hole, and a hole is zeros.
    const value: unknown = JSON.parse(text.replace(/^\0+/, ""));
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export interface InputLog {
  has(key: string): boolean;
  isUnsure(key: string): boolean;
  /** Recorded, and not marked as written. */
  readonly unsure: readonly Input[];
  /** Where the next record begins. */
  readonly end: number;
  record(input: Input): void;
  mark(key: string): void;
}

export function openInputLog(file: JournalFile): InputLog {
  const keys = new Set<string>();
  const unsure = new Map<string, Input>();
  let end = 0;
  const read = (entry: Entry | undefined): void => {
    if (!entry) return;
    if ("done" in entry) unsure.delete(entry.done);
    else {
      keys.add(entry.key);
      unsure.set(entry.key, entry);
    }
  };
  file.eachLine((text, offset) => {
    end = offset + Buffer.byteLength(text) + 1;
    read(parse(text));
  });
  const append = (entry: Entry): void => {
    const text = JSON.stringify(entry);
    end = file.append(text) + Buffer.byteLength(text) + 1;
    read(entry);
  };
  return {
    has: (key) => keys.has(key),
    isUnsure: (key) => unsure.has(key),
    get unsure() {
      return [...unsure.values()];
    },
    get end() {
      return end;
    },
    record: ({ key, line }) => append({ key, line }),
    mark: (done) => append({ done }),
  };
}

/** For whoever rebuilds: what was recorded behind an offset. */
export function readInputs(files: Files, path: string, from: number): Input[] {
  const inputs: Input[] = [];
  files.eachLine(path, from, (text) => {
    const entry = parse(text);
    if (entry && "key" in entry) inputs.push({ key: entry.key, line: entry.line });
  });
  return inputs;
}
