// What led to it? The shortest story of a violation: what happened around it, to whom, in one column.
import type { History, Violation } from "./history.ts";
import type { Yard } from "./yard.ts";

const BEFORE_MS = 3_000;
const AFTER_MS = 500;
const LINES = 30;

interface Line {
  at: number;
  text: string;
}

function linesOf({ commands, faults, promotions, notes }: History, { session }: Violation): Line[] {
  const lines: Line[] = [];
  for (const { at, until, what, pid } of faults) {
    lines.push({ at, text: `${what}${pid === undefined ? "" : ` ${pid}`}` });
    if (until > at && Number.isFinite(until)) lines.push({ at: until, text: `over: ${what} ${pid ?? ""}` });
  }
  for (const { at, pid, who } of promotions) lines.push({ at, text: `host is now ${pid} (${who})` });
  for (const { at, text } of notes) lines.push({ at, text });
  for (const { at, endedAt, words, pid, code, signal, about, kind } of commands) {
    if (kind !== "serve" && about.session !== session) continue;
    lines.push({ at, text: `${pid} ${words.join(" ").slice(0, 90)}` });
    if (endedAt !== undefined) lines.push({ at: endedAt, text: `${pid} ended with ${signal ?? code}` });
  }
  return lines;
}

/** The first of a kind has its story, the others their line. */
export function tellStory(violations: readonly Violation[], { history }: Yard): string[] {
  const told = new Set<string>();
  return violations.map((violation) => {
    const { kind, text, at } = violation;
    const head = `${kind.toUpperCase()}: ${text}`;
    if (told.has(kind)) return head;
    told.add(kind);
    const around = linesOf(history, violation)
      .filter((line) => line.at >= at - BEFORE_MS && line.at <= at + AFTER_MS)
      .toSorted((a, b) => a.at - b.at)
      .slice(-LINES);
    return [head, ...around.map((line) => `    ${String(line.at - at).padStart(6)} ms  ${line.text}`)].join("\n");
  });
}
