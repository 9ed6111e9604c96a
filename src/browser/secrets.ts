// Which secrets does a task have? Values from the environment or from a file, never from the command line.
import { placeholdersIn, type Secret } from "../core/redact.ts";
import { Fault } from "../protocol/fault.ts";
import type { StepsFile } from "../protocol/web-task.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function fromEnvironment(name: string, env: Readonly<Record<string, string | undefined>>): [string, string] {
  if (!NAME.test(name)) {
    // It may be the value itself, given by mistake.
    throw new Fault("USAGE", "Flag --secret takes the name of an environment variable, and never the value itself");
  }
  const value = env[name];
  if (value) return [name, value];
  throw new Fault("USAGE", `There is no variable "${name}" in the environment; set it, or leave --secret ${name} out`);
}

const unquote = (text: string): string => /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;

/** A JSON object, or lines of NAME=value. */
function fromFile(path: string, text: string): [string, string][] {
  const wrong = (where: string): never => {
    throw new Fault("USAGE", `"${path}" ${where}; give NAME=value lines, or a JSON object of texts`, { path });
  };
  if (text.trimStart().startsWith("{")) {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return wrong("is no JSON");
    }
    return Object.entries(parsed as object).map(([name, value]) =>
      NAME.test(name) && typeof value === "string" && value !== ""
        ? [name, value]
        : wrong(`has a wrong entry "${name}"`),
    );
  }
  return text.split(/\r?\n/).flatMap((line, index): [string, string][] => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return [];
    const [, name, value] = /^\s*(?:export\s+)?([^=\s]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (!name || !NAME.test(name) || !value) return wrong(`line ${index + 1} is wrong`);
    return [[name, unquote(value)]];
  });
}

export interface SecretSources {
  names: readonly string[];
  file: { path: string; text: string } | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

export const readSecrets = ({ names, file, env }: SecretSources): Map<string, string> =>
  new Map([...(file ? fromFile(file.path, file.text) : []), ...names.map((name) => fromEnvironment(name, env))]);

export const masksOf = (values: ReadonlyMap<string, string>): Secret[] =>
  [...values].map(([name, value]) => ({ mask: `{{${name}}}`, value }));

/** Found out before anything is done, not at the step that needs it. */
export function mustKnow(file: StepsFile, values: ReadonlyMap<string, string>): void {
  const missing = placeholdersIn(JSON.stringify(file)).find((name) => !values.has(name));
  if (missing === undefined) return;
  throw new Fault(
    "USAGE",
    `The steps need the secret "${missing}"; give it with --secret ${missing} or --secrets FILE`,
  );
}
