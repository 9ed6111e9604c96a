// How did it go? One line per number: what was wanted, what was measured, and whether that is enough.

export interface Row {
  what: string;
  goal: string;
  measured: string;
  verdict: "ok" | "missed" | "";
  note: string;
}

const COLUMNS = ["what", "goal", "measured", "verdict", "note"] as const;
const HEADINGS: Row = { what: "What", goal: "Goal", measured: "Measured", verdict: "", note: "In this run" };

const judged = (isMet: boolean): "ok" | "missed" => (isMet ? "ok" : "missed");

export const ms = (value: number): string => `${value.toFixed(value < 1 ? 3 : 1)} ms`;
const times = (value: number): string => `${value.toFixed(2)} ×`;

export const atMostMs = (what: string, goalMs: number, measuredMs: number, note: string): Row => ({
  what,
  goal: `≤ ${goalMs} ms`,
  measured: ms(measuredMs),
  verdict: judged(measuredMs <= goalMs),
  note,
});

export const atMostTimes = (what: string, goal: number, ratio: number, note: string): Row => ({
  what,
  goal: `≤ ${goal} ×`,
  measured: times(ratio),
  verdict: judged(ratio <= goal),
  note,
});

export const atLeastTimes = (what: string, goal: number, ratio: number, note: string): Row => ({
  what,
  goal: `≥ ${goal} ×`,
  measured: times(ratio),
  verdict: judged(ratio >= goal),
  note,
});

/** A number nobody set a goal for. */
export const told = (what: string, measured: string, note: string): Row => ({
  what,
  goal: "-",
  measured,
  verdict: "",
  note,
});

export function table(rows: readonly Row[]): string {
  const all = [HEADINGS, ...rows];
  const widths = COLUMNS.map((column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row: Row) =>
    COLUMNS.map((column, at) => row[column].padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [line(HEADINGS), rule, ...rows.map(line), ""].join("\n");
}
