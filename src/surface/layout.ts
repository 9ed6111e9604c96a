// How does help text fit a page? Loads nothing: the overview must start at once.

export const PAGE_COLUMNS = 100;

/** Breaks at spaces; a word longer than the line stands alone. Blank lines part paragraphs. */
export function wrap(text: string, columns: number): string[] {
  // What fits is most of what comes, and cutting it into words would be half the time of `--help`.
  if (text.length <= columns && !/\n|^ | $| {2}/.test(text)) return [text];
  return text.split("\n").flatMap((paragraph) => {
    const lines = [""];
    for (const word of paragraph.split(" ").filter((part) => part !== "")) {
      const line = lines.at(-1) ?? "";
      if (line === "") lines[lines.length - 1] = word;
      else if (line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}

const INDENT = 2;
const GAP = 2;
/** A left side wider than this has its right side on the next line, so that one long flag does not squeeze the page. */
const WIDEST_LEFT = 38;

/** Two aligned columns, the right one wrapped. `left` lines several lists up with each other. */
export function pairs(rows: readonly (readonly [string, string])[], left = leftWidth(rows)): string[] {
  const indent = " ".repeat(INDENT + left + GAP);
  return rows.flatMap(([name, says]) => {
    const lines = wrap(says, PAGE_COLUMNS - indent.length);
    const fits = name.length <= left;
    const head = " ".repeat(INDENT) + (fits ? name.padEnd(left + GAP) + (lines.shift() ?? "") : name);
    return [head.trimEnd(), ...lines.filter((line) => line !== "").map((line) => indent + line)];
  });
}

export const leftWidth = (rows: readonly (readonly [string, string])[]): number =>
  Math.max(0, ...rows.map(([name]) => name.length).filter((length) => length <= WIDEST_LEFT));
