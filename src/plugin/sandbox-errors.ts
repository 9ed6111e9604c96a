// What went wrong in a script, as its author should read it? The message, and those frames of the stack that are theirs.
import { types } from "node:util";
import { clip, describe } from "./sandbox-values.ts";

const MAX_ERROR = 64 * 1024;
const SCRIPT_FRAME = /^\s+at .*script-\d+\.js:\d+/;
/** The line that calls a wrapped script: what the author wrote there is always inside of `<anonymous> (…)`. */
const WRAPPER_FRAME = /^\s+at async-script-\d+\.js:\d+:\d+$/;

/** Both have the same length, which is taken off the columns of the first line of files with that name. */
export const EXPRESSION = { before: "(async () => (", after: "\n))()" };
export const BODY = { before: "(async () => {", after: "\n})()" };

export const fileName = (run: number, wrapped: boolean): string => `${wrapped ? "async-" : ""}script-${run}.js`;

const isError = (thrown: unknown): thrown is Error => thrown instanceof Error || types.isNativeError(thrown);

export function userFrames(error: unknown): string[] {
  const stack: unknown = isError(error) ? error.stack : undefined;
  if (typeof stack !== "string") return [];
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line) && !WRAPPER_FRAME.test(line));
  return frames
    .slice(0, frames.findLastIndex((line) => SCRIPT_FRAME.test(line)) + 1)
    .map((line) =>
      line.replace(/(async-script-\d+\.js:1:)(\d+)/, (_, file, column) => file + (Number(column) - BODY.before.length)),
    );
}

export function tellError(error: unknown): string {
  try {
    if (!isError(error)) return typeof error === "string" ? clip(error, MAX_ERROR) : describe(error);
    const headline = error.message === "" ? error.name : `${error.name}: ${error.message}`;
    return clip([headline, ...userFrames(error)].join("\n"), MAX_ERROR);
  } catch {
    return describe(error);
  }
}
