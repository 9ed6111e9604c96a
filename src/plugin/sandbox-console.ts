// Where does what a script prints go? Every method of `console`, and what is written to stdout and stderr, becomes an entry.
import { Console } from "node:console";
import { Writable } from "node:stream";
import { format } from "node:util";
import type { LogLevel } from "../protocol/plugin.ts";
import { userFrames } from "./sandbox-errors.ts";

export type Emit = (level: LogLevel, body: string) => void;

const LEVELS = { log: "Print", debug: "Print", info: "Info", warn: "Warning", error: "Error" } as const;

export const lineWriter = (level: LogLevel, emit: Emit): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      emit(level, String(chunk).replace(/\n$/, ""));
      done();
    },
  });

/** `table`, `dir`, `group` and the like come from node's console; the five plain ones carry their level. */
export function createConsole(emit: Emit): Console {
  const console = new Console({ stdout: lineWriter("Print", emit), stderr: lineWriter("Warning", emit) });
  for (const [name, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, LogLevel][]) {
    console[name] = (...values: unknown[]) => emit(level, format(...values));
  }
  console.trace = (...values: unknown[]) =>
    emit("Warning", [`Trace: ${format(...values)}`, ...userFrames(new Error()).slice(1)].join("\n"));
  return console;
}
