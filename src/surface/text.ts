// How does text look on a terminal, and what may it not do there? Pure.
import { clip, pad, width } from "./width.ts";

const PATTERNS = [
  // OSC, DCS, SOS, PM, APC: to their end, or to the end of the line where none comes, so that little can be hidden.
  "(?:\\x1b[\\]PX^_]|[\\x9d\\x90\\x98\\x9e\\x9f])(?:[^\\x07\\x1b\\x80-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)|[^\\n\\x07\\x1b\\x80-\\x9f]*)",
  // CSI
  "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
  // ESC x, with its intermediates
  "\\x1b[ -/]*[0-~]?",
  // What is left of C0 and C1, and the marks that reorder what is read.
  "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]",
];
const CONTROLS = new RegExp(PATTERNS.join("|"), "g");

/** A return becomes a new line: what was written before it stays to be seen. */
export const stripControls = (text: string): string => text.replace(CONTROLS, "").replace(/\r\n?/g, "\n");

const STEPS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
] as const;

/** "350 ms", "12 s", "3 m 12 s", "2 h 5 m", "3 d 4 h": never more than two parts, always rounded down. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.floor(ms))} ms`;
  const seconds = Math.floor(ms / 1000);
  const first = STEPS.findIndex(([, size]) => seconds >= size);
  const parts = STEPS.slice(first, first + 2).map(([unit, size], index) => {
    const above = STEPS[first + index - 1];
    return { unit, amount: Math.floor((above && index > 0 ? seconds % above[1] : seconds) / size) };
  });
  return parts.flatMap(({ unit, amount }) => (amount > 0 ? `${amount} ${unit}` : [])).join(" ");
}

const TONES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Tone = keyof typeof TONES;
export type Paint = Readonly<Record<Tone, (text: string) => string>>;

export function paint(color: boolean): Paint {
  const tones = Object.entries(TONES).map(([tone, code]) => [
    tone,
    (text: string) => (color && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text),
  ]);
  return Object.fromEntries(tones);
}

export interface Column<Row> {
  title: string;
  value(row: Row): string | number | undefined;
  align?: "right";
  tone?(row: Row): Tone | undefined;
}

export interface TableOptions {
  /** Columns of the terminal; without it nothing is ever shortened. */
  width?: number | undefined;
  color?: boolean;
}

const GAP = "  ";
const NARROWEST = 4;

export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions = {},
): string {
  const tones = paint(options.color ?? false);
  // A cell stays on its line: otherwise a title could forge a row.
  const cell = (value: string | number | undefined) => String(value ?? "").replace(/[\r\n\t\v\f]+/g, " ");
  const cells = rows.map((row) => columns.map((column) => cell(column.value(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(width(title), ...cells.map((line) => width(line[index] ?? ""))),
  );
  if (options.width !== undefined) shrink(widths, options.width - GAP.length * (columns.length - 1));

  const line = (texts: readonly string[], toneOf: (column: Column<Row>) => Tone | undefined) =>
    columns
      .map((column, index) => {
        const room = widths[index] ?? 0;
        const text = pad(clip(texts[index] ?? "", room), room, column.align === "right");
        const tone = toneOf(column);
        return tone ? tones[tone](text) : text;
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    columns.map(({ title }) => title),
    () => "bold",
  );
  return [head, ...rows.map((row, index) => line(cells[index] ?? [], (column) => column.tone?.(row)))].join("\n");
}

/** Takes from the widest column, one by one, until all fit or nothing can give. */
function shrink(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}
