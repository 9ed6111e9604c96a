// What led to it? The shortest story of a violation: what happened around it, to whom, in one column.
import type { History, Violation } from "./history.ts";
import type { Yard } from "./yard.ts";

const BEFORE_MS = 3_000;
const AFTER_MS = 500;
const LINES = 25;
/** So many of a kind are told; the rest is counted. */
const MOST = 4;
const LENGTH = 500;

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
    if (kind !== "serve" && (session === undefined || about.session !== session)) continue;
    lines.push({ at, text: `${pid} ${words.join(" ").replaceAll(/ {2,}/g, " ").slice(0, 90)}` });
    if (endedAt !== undefined) lines.push({ at: endedAt, text: `${pid} ended with ${signal ?? code}` });
  }
  return lines;
}

/** What happened around this time, oldest first. */
export const around = (history: History, violation: Violation): string[] =>
  linesOf(history, violation)
    .filter(({ at }) => at >= violation.at - BEFORE_MS && at <= violation.at + AFTER_MS)
    .toSorted((a, b) => a.at - b.at)
    .slice(-LINES)
    .map(({ at, text }) => `    ${String(Math.round(at - violation.at)).padStart(6)} ms  ${text}`);

/** In a session with two writers everything else follows from that. */
export function causes(violations: readonly Violation[]): Violation[] {
  const written = new Set(violations.flatMap(({ kind, session }) => (kind === "double writer" ? [session] : [])));
  return violations.filter(
    ({ kind, session }) => kind === "double writer" || session === undefined || !written.has(session),
  );
}

/** The first of a kind has its story, some more their line. */
export function tellStory(violations: readonly Violation[], { history }: Pick<Yard, "history">): string[] {
  const first = causes(violations);
  const told: string[] = [];
  for (const kind of new Set(first.map((each) => each.kind))) {
    const all = first.filter((each) => each.kind === kind);
    for (const [index, violation] of all.slice(0, MOST).entries()) {
      told.push(`${kind.toUpperCase()}: ${violation.text.slice(0, LENGTH)}`);
      if (index === 0) told.push(...around(history, violation));
    }
    if (all.length > MOST) told.push(`  … and ${all.length - MOST} more like it`);
  }
  if (violations.length > first.length)
    told.push(`  … and ${violations.length - first.length} that follow from the double writers`);
  return told;
}

/** Which faults struck shortly before: they are tried alone. */
export function suspects({ faults }: History, { at }: Violation): string[] {
  const before = faults.filter((fault) => fault.at <= at + AFTER_MS && fault.until >= at - 2 * BEFORE_MS);
  return [...new Set(before.map(({ name }) => name))];
}
