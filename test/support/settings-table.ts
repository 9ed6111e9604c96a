// How does the README get its table of settings? Printed from the one in the code, between two marks.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsMarkdown } from "../../src/surface/settings-text.ts";

const README = join(import.meta.dir, "../../README.md");
const MARKS = /(<!-- settings: [^>]*-->\n)[\s\S]*?(<!-- \/settings -->)/;

export const readme = (): string => readFileSync(README, "utf8");
export const withSettings = (text: string): string =>
  text.replace(MARKS, (_, begin: string, end: string) => `${begin}${settingsMarkdown()}\n${end}`);

if (import.meta.main) writeFileSync(README, withSettings(readme()));
