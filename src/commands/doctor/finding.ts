// What did the doctor find, and what is to be done about it?

export const LEVELS = ["ok", "warning", "problem"] as const;
export type Level = (typeof LEVELS)[number];

export interface Finding {
  area: string;
  level: Level;
  text: string;
  hint: string | null;
}

const finding =
  (level: Level) =>
  (area: string, text: string, hint: string | null = null): Finding => ({ area, level, text, hint });

export const ok = finding("ok");
export const warning = finding("warning");
export const problem = finding("problem");

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The last line, for people: "No problem, 2 warnings". */
export function summaryOf(findings: readonly Finding[]): string {
  const count = (level: Level) => findings.filter((each) => each.level === level).length;
  const problems = count("problem") === 0 ? "No problem" : counted(count("problem"), "problem");
  const warnings = count("warning") === 0 ? "no warning" : counted(count("warning"), "warning");
  return `${problems}, ${warnings}`;
}
