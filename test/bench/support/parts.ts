// In which order is a benchmark run? Part by part, each told as it begins.
import type { Row } from "./table.ts";

export type Progress = (part: string) => void;

export async function inParts(
  progress: Progress,
  parts: Readonly<Record<string, () => Row[] | Promise<Row[]>>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    progress(name);
    rows.push(...(await measure()));
  }
  return rows;
}
