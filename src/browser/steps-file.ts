// What does a steps file say? A wrong one is an error that names the file, the line and what would be right.
import { z } from "zod";
import { findJsonError } from "../core/json-error.ts";
import { lineOf } from "../core/json-line.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { StepsFile } from "../protocol/web-task.ts";

export function readStepsFile(path: string, text: string): StepsFile {
  const fail = (line: number, why: string, data: Record<string, unknown> = {}): never => {
    throw new Fault("USAGE", `"${path}" line ${line}: ${why}`, { path, line, ...data });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const { line = 1, column = 1, why = messageOf(thrown) } = findJsonError(text) ?? {};
    return fail(line, `column ${column}: invalid JSON: ${why}`);
  }
  const result = StepsFile.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = issue?.path ?? [];
  const keys = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const where = at.length > 0 ? `"${at.join(".")}" is wrong: ` : "";
  return fail(lineOf(text, keys[0] === undefined ? at : [...at, keys[0]]), `${where}${issue?.message}`, {
    problems: z.prettifyError(result.error),
  });
}
