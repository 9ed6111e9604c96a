// Which commands are there? Read off the table without loading one: `--help` must start at once.
import { DEFAULT_PORT } from "../protocol/version.ts";
import { leftWidth, PAGE_COLUMNS, pairs, wrap } from "./layout.ts";

export interface TableEntry<Load = unknown> {
  summary: string;
  load: Load;
  hidden?: boolean;
  group?: string;
  /** Absent: no program is offered it as a tool. */
  tool?: ToolEntry;
}

/** How a command looks as a tool of `holdfast mcp`. */
export interface ToolEntry {
  /** It changes nothing. */
  readOnly?: true;
  /** Arguments that only people have a use for. */
  without?: readonly string[];
  /** Must be given here, though a person may leave it out. */
  needs?: readonly string[];
  /** Its answer as text; else as JSON. */
  asText?: true;
}

export type CommandTable<Load = unknown> = Readonly<Record<string, TableEntry<Load>>>;

const COMMON: readonly (readonly [string, string])[] = [
  ["--format text|json", "How results are written; --json is short for --format json"],
  ["--port N", `Port of the host (default: HOLDFAST_PORT, else ${DEFAULT_PORT})`],
  ["-h, --help", "Help, for all or after a command for that one"],
  ["--version", "The version"],
];

/** Groups stand in the order of their first command, and keep the table's order within. */
export function overview(table: CommandTable, about = "Keeps agent work alive"): string {
  const groups = new Map<string, [string, string][]>();
  for (const [name, { summary, hidden, group = "Commands" }] of Object.entries(table)) {
    if (hidden) continue;
    const rows = groups.get(group) ?? [];
    rows.push([name, summary]);
    groups.set(group, rows);
  }
  const left = leftWidth([...groups.values(), COMMON].flat());
  const section = (title: string, rows: readonly (readonly [string, string])[]) => [
    `${title}:`,
    ...pairs(rows, left),
    "",
  ];
  return [
    ...wrap(`holdfast: ${about}`, PAGE_COLUMNS),
    "",
    "Usage: holdfast COMMAND [ARGUMENTS] [FLAGS]",
    "",
    ...[...groups].flatMap(([title, rows]) => section(title, rows)),
    ...section("Flags", COMMON),
    'More: "holdfast help COMMAND", and "holdfast help TOPIC" with exit-codes, config, failover, security',
    "",
  ].join("\n");
}
