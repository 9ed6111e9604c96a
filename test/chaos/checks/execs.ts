// Did any script run twice? Each appends a token of its own to a file: at most once, and exactly once behind exit code 0.
import { existsSync, readFileSync } from "node:fs";
import type { Command, Violation } from "../history.ts";

export const readTokens = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];

export function checkExecs(commands: readonly Command[], tokens: readonly string[]): Violation[] {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return commands.flatMap(({ about: { token }, code, at, endedAt = at }): Violation[] => {
    if (token === undefined) return [];
    const count = counts.get(token) ?? 0;
    if (count > 1) return [{ kind: "doubled", text: `exec of ${token} ran ${count} times`, at: endedAt }];
    if (count === 0 && code === 0)
      return [{ kind: "lost", text: `exec of ${token} ended with 0 and never ran`, at: endedAt }];
    return [];
  });
}
