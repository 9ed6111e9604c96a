// Does every file stay in its room? The arrows of the house as one table, every import read against it.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dir, "..");
const SRC = join(ROOT, "src");

const SERVICE = ["protocol", "core", "rpc", "platform/world"];
const AGENTS = [...SERVICE, "platform/agent-world", "node:path"];

/** Folder or file → what it may import; packages by their name. A room may always use itself. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  protocol: ["zod", "package.json"],
  core: ["protocol"],
  platform: ["protocol", "node:", "bun:ffi"],
  rpc: ["protocol", "core", "platform/world"],
  bridge: [...SERVICE, "node:path"],
  plugin: [...SERVICE, "node:vm", "node:util", "node:module", "node:console", "node:stream"],
  keeper: AGENTS,
  agents: [...AGENTS, "keeper/ladder"],
  browser: [...SERVICE, "platform/browser-world", "zod", "playwright-core", "node:path"],
  surface: ["protocol", "platform/world", "node:zlib"],
  // A command is a straight line from its arguments to a service, so it may know them; they never know it.
  commands: [
    "protocol",
    "core",
    "surface",
    "bridge",
    "plugin",
    "agents",
    "browser",
    "rpc",
    "platform",
    "keeper/place",
    "node:path",
  ],
  "app.ts": ["protocol", "platform", "bridge", "commands", "surface", "agents.ts", "node:"],
  "agents.ts": ["agents", "keeper", "core", "bridge", "platform", "protocol", "node:os", "node:path"],
  "keeper.ts": ["keeper", "platform"],
  "library.ts": ["protocol", "platform", "bridge", "agents.ts", "commands/config-file", "node:path"],
  "main.ts": ["app.ts", "keeper.ts", "commands/table", "surface/overview", "protocol", "node:fs"],
};

const sources = [...new Bun.Glob("**/*.ts").scanSync(SRC)].sort();
const read = (file: string): string => readFileSync(join(SRC, file), "utf8");
const roomOf = (path: string): string => path.split("/")[0] as string;

function importsOf(file: string): string[] {
  const found = read(file).matchAll(/^(?:import|export)\b[^;="`]*\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/gm);
  return [...found].map(([, statement, expression]) => {
    const specifier = (statement ?? expression) as string;
    if (!specifier.startsWith(".")) return specifier;
    return relative(SRC, join(SRC, dirname(file), specifier)).replace(/^\.\.\//, "");
  });
}

/** Each takes 0.3 to 6 ms to load, the schemas 20. */
const HEAVY = ["zod", "node:crypto", "node:fs/promises", "node:os", "node:tty"];

/** What is loaded with a file: types and `await import(…)` are not. */
function loadedWith(file: string, seen = new Map<string, string>(), from = ""): Map<string, string> {
  if (seen.has(file)) return seen;
  seen.set(file, from);
  if (!file.endsWith(".ts")) return seen;
  for (const { kind, path } of new Bun.Transpiler({ loader: "ts" }).scanImports(read(file))) {
    if (kind !== "import-statement") continue;
    loadedWith(path.startsWith(".") ? relative(SRC, join(SRC, dirname(file), path)) : path, seen, file);
  }
  return seen;
}

const allows = (arrow: string, imported: string): boolean =>
  arrow.endsWith(":")
    ? imported.startsWith(arrow)
    : imported === arrow || imported.startsWith(`${arrow}/`) || imported === `${arrow}.ts`;

describe("the house", () => {
  test("every import follows an arrow", () => {
    const wrong = sources.flatMap((file) => {
      const room = roomOf(file);
      const arrows = ARROWS[room];
      if (!arrows) return [`${file}: no such room`];
      return importsOf(file)
        .filter((imported) => roomOf(imported) !== room && !arrows.some((arrow) => allows(arrow, imported)))
        .map((imported) => `${file} → ${imported}`);
    });
    expect(wrong).toEqual([]);
  });

  test("core waits for nothing and knows neither time nor dice", () => {
    const banned = /\bawait\b|\bDate\b|Math\.random|\bsetTimeout\b|\bprocess\b|\bBun\b/;
    const code = (file: string) => read(file).replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, "");
    expect(sources.filter((file) => roomOf(file) === "core" && banned.test(code(file)))).toEqual([]);
  });

  test("[CM7] a command that comes and goes loads no zod, and no heavy module of node", () => {
    // Loaded by whoever hosts or starts a host, and when a web task begins.
    const later = ["commands/config-file.ts", "commands/browse-task.ts"];
    const commands = sources.filter((file) => roomOf(file) === "commands" && !later.includes(file));
    const heavy = ["main.ts", "app.ts", ...commands].flatMap((file) => {
      const loaded = loadedWith(file);
      return HEAVY.filter((name) => loaded.has(name)).map((name) => `${file}: ${loaded.get(name)} → ${name}`);
    });
    expect(heavy).toEqual([]);
    expect(loadedWith("bridge/hosting.ts").has("zod")).toBe(true);
  });

  test("[SD1] process.exit is called in two places only, both in main.ts", () => {
    const calls = sources.flatMap(
      (file) =>
        read(file)
          .match(/process\.exit\(/g)
          ?.map(() => file) ?? [],
    );
    expect(calls).toEqual(["main.ts", "main.ts"]);
  });

  test("files are small, and each says in its first line which question it answers", () => {
    const all = sources.map((file) => ({ file, text: read(file) }));
    expect(all.filter(({ text }) => text.split("\n").length > 251).map(({ file }) => file)).toEqual([]);
    expect(all.filter(({ text }) => !text.startsWith("// ")).map(({ file }) => file)).toEqual([]);
  });

  test("names are kebab-case, exports are named, there are no barrels", () => {
    expect(sources.filter((file) => !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(file))).toEqual([]);
    expect(sources.filter((file) => /^export default|^export \* from/m.test(read(file)))).toEqual([]);
  });

  test("every test that a document names is there", () => {
    const missing = ["README.md", "CONTRIBUTING.md"].flatMap((document) => {
      const text = readFileSync(join(ROOT, document), "utf8");
      const named = [...text.matchAll(/\btest\/[\w./-]*\w/g)].map(([path]) => path);
      expect(named.length).toBeGreaterThan(0);
      return named.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${document}: ${path}`);
    });
    expect(missing).toEqual([]);
  });

  test("the top level holds what it may and nothing else", () => {
    const listed = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard"], { cwd: ROOT }).stdout.toString();
    const top = new Set(listed.split("\n").filter(Boolean).map(roomOf));
    const allowed =
      /^(src|test|bunfig\.toml|package\.json|tsconfig\.json|build\.ts|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|LICENSE|bun\.lock|\..+)$/;
    expect([...top].filter((name) => !allowed.test(name))).toEqual([]);
  });
});
