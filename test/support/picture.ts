// What does the README show? The real demo's output, line by line as it came, as a moving SVG.
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const COLUMNS = 92;
const CHARACTER = 8.4;
const LINE = 22;
const TOP = 64;
/** Not as in life, where most comes within milliseconds and some waits for seconds: so that it can be read. */
const [SOONEST_SECONDS, LATEST_SECONDS] = [0.35, 1.5];
const HOLD_SECONDS = 8;

const TONES: Readonly<Record<string, string>> = {
  "1": "bold",
  "2": "dim",
  "31": "red",
  "32": "green",
  "33": "yellow",
  "36": "cyan",
};

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function spans(line: string): string {
  const classes = new Set<string>();
  let out = "";
  for (const part of line.split(/(\x1b\[[0-9;]*m)/)) {
    const codes = /^\x1b\[([0-9;]*)m$/.exec(part)?.[1];
    if (codes === undefined) {
      if (part) out += `<tspan class="${[...classes].join(" ")}">${escapeXml(part)}</tspan>`;
      continue;
    }
    for (const code of codes.split(";")) {
      const tone = TONES[code];
      if (tone) classes.add(tone);
      else if (code === "22") for (const each of ["bold", "dim"]) classes.delete(each);
      else for (const each of [...classes]) if (code === "0" || each !== "bold") classes.delete(each);
    }
  }
  return out;
}

const demo = Bun.spawnSync([join(ROOT, "dist/holdfast"), "demo"], {
  env: { ...process.env, FORCE_COLOR: "1", COLUMNS: String(COLUMNS) },
});
if (demo.exitCode !== 0) throw new Error(demo.stderr.toString());
const lines = demo.stdout.toString().trimEnd().split("\n");
const timeIn = (line: string): number | undefined => {
  const said = /(\d+\.\d+) s/.exec(line)?.[1];
  return said === undefined ? undefined : Number(said);
};
const starts: number[] = [];
let [last, lastAt] = [0, 0];
for (const line of lines) {
  // What has no time of its own, a title, comes with the line before it.
  const at = timeIn(line) ?? lastAt;
  last += Math.min(Math.max(at - lastAt, SOONEST_SECONDS), LATEST_SECONDS);
  lastAt = Math.max(at, lastAt);
  starts.push(last);
}
const total = last + HOLD_SECONDS;
// Whoever looks first sees all of it; then it plays.
const begin = -(last + 1);

const texts = lines.map((line, index) => {
  const start = (((starts[index] ?? 0) / total) * 100).toFixed(2);
  const name = `line${index}`;
  const frames = `@keyframes ${name}{0%{opacity:0}${start}%{opacity:0}${(Number(start) + 0.1).toFixed(2)}%{opacity:1}100%{opacity:1}}`;
  const plays = `#${name}{animation:${name} ${total.toFixed(1)}s ${begin.toFixed(1)}s infinite}`;
  const text = `<text x="20" y="${TOP + index * LINE}" id="${name}" xml:space="preserve">${spans(line)}</text>`;
  return { frames, plays, text };
});

const columns = Math.max(...lines.map((line) => Bun.stringWidth(line)));
const width = Math.ceil(columns * CHARACTER + 40);
const height = TOP + lines.length * LINE + 6;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="holdfast demo: hosts, a keeper, an agent and a browser are killed under work, and every request and line is counted">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d8dee9}.bold{font-weight:700;fill:#fff}.dim{fill:#7b8494}.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#f2cc60}.cyan{fill:#79c0ff}${texts.map(({ frames }) => frames).join("")}@media (prefers-reduced-motion:no-preference){${texts.map(({ plays }) => plays).join("")}}</style>
<rect width="100%" height="100%" rx="10" fill="#10151d"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<text x="20" y="44" xml:space="preserve"><tspan class="dim">$ </tspan><tspan class="bold">holdfast demo</tspan></text>
${texts.map(({ text }) => text).join("\n")}
</svg>
`;
await Bun.write(join(ROOT, ".github/demo.svg"), svg);
console.log(`Wrote .github/demo.svg with ${lines.length} lines`);
