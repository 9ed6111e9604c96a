// What does the config file say? A wrong one is an error that names the file, the line and the key.
import { findJsonError } from "../core/json-error.ts";
import { lineOf } from "../core/json-line.ts";
import { Config } from "../protocol/config.ts";
import { Fault, messageOf } from "../protocol/fault.ts";

/** Undefined text: there is no such file, and everything has its default. */
export function readConfig(path: string, text: string | undefined): Config {
  if (text === undefined) return Config.parse({});
  const fail = (line: number, why: string): never => {
    throw new Fault("USAGE", `"${path}" line ${line}: ${why}`, { path, line });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const { line = 1, column = 1, why = messageOf(thrown) } = findJsonError(text) ?? {};
    return fail(line, `column ${column}: invalid JSON: ${why}`);
  }
  const result = Config.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path_ = issue?.path ?? [];
  if (issue?.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    return fail(lineOf(text, [...path_, key]), `unknown key "${[...path_, key].join(".")}"`);
  }
  return fail(lineOf(text, path_), `"${path_.join(".")}" is wrong: ${issue?.message}`);
}
