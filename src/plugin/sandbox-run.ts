// How does a script run? At the top level first, so that `let`, `const`, `var` and functions outlive it. A script that
// only compiles as an async function body (`await`, `return`) runs as one: its declarations are then its own. Its value
// is what it ends with, as at the top level, or what it returns. Assign to `globalThis` to keep something from there.
import { types } from "node:util";
import { Script } from "node:vm";
import { BODY, EXPRESSION, fileName, tellError, userFrames } from "./sandbox-errors.ts";
import { returningLast } from "./sandbox-last.ts";
import { exportValue } from "./sandbox-values.ts";
import type { Failure, RunAnswer } from "./sandbox-wire.ts";

/** Taken before user code can put another in its place. */
const AsyncFunction = (async () => undefined).constructor as new (body: string) => unknown;

export interface RunnerOptions {
  /** Told of scripts that may leave variables at the top level. */
  topLevel(script: string): void;
  importModule(specifier: string): Promise<unknown>;
}

const failure = (code: string, error: unknown): Failure => ({ success: false, code, error: tellError(error) });

/** Compiles without running. As it checks the text by itself, `}); (() => {` cannot slip through a wrapping. */
function isAsyncBody(text: string): boolean {
  try {
    new AsyncFunction(text);
    return true;
  } catch {
    return false;
  }
}

export function createRunner({ topLevel, importModule }: RunnerOptions): (text: string) => Promise<RunAnswer> {
  let runs = 0;

  const wrap = (text: string, { before, after } = BODY) =>
    new Script(before + text + after, {
      filename: fileName(runs, true),
      importModuleDynamically: importModule as never,
    });

  function compile(text: string): Script {
    try {
      const script = new Script(text, {
        filename: fileName(runs, false),
        importModuleDynamically: importModule as never,
      });
      topLevel(text);
      return script;
    } catch (error) {
      if (!isAsyncBody(text)) {
        if (/\bawait\b/.test(text)) wrap(text);
        throw error;
      }
      if (isAsyncBody(`return (${text}\n)`)) return wrap(text, EXPRESSION);
      return wrap(returningLast(text, isAsyncBody) ?? text);
    }
  }

  return async (text) => {
    runs += 1;
    let script: Script;
    try {
      script = compile(text);
    } catch (error) {
      return failure("SCRIPT_LOAD_ERROR", error);
    }
    let value: unknown;
    try {
      value = script.runInThisContext();
    } catch (error) {
      // A name that is declared already is refused before the script's first line, hence without a frame of it.
      const refused = error instanceof SyntaxError && userFrames(error).length === 0;
      return failure(refused ? "SCRIPT_LOAD_ERROR" : "SCRIPT_RUNTIME_ERROR", error);
    }
    try {
      return { success: true, ...exportValue(types.isPromise(value) ? await value : value) };
    } catch (error) {
      return failure("SCRIPT_RUNTIME_ERROR", error);
    }
  };
}
