// How is the one executable made? `bun build.ts` for this platform, `--all` for every one, with SHA-256 sums.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { basename, join } from "node:path";

const TARGETS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"] as const;
type Target = (typeof TARGETS)[number];

const DIST = join(import.meta.dir, "dist");
const ENTRIES = ["src/main.ts", "src/plugin/sandbox-worker.ts"].map((path) => join(import.meta.dir, path));

async function compile(outfile: string, target?: Target): Promise<void> {
  const result = await Bun.build({
    entrypoints: ENTRIES,
    compile: { outfile, ...(target ? { target: `bun-${target}` as Bun.Build.CompileTarget } : {}) },
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    minify: true,
  });
  if (!result.success) throw new AggregateError(result.logs, `Building ${basename(outfile)} failed`);
}

const sha256 = (path: string): string => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");

async function buildAll(): Promise<void> {
  const sums: string[] = [];
  for (const target of TARGETS) {
    const file = join(DIST, `holdfast-${target}${target.startsWith("windows") ? ".exe" : ""}`);
    await compile(file, target);
    sums.push(`${sha256(file)}  ${basename(file)}`);
    console.log(sums.at(-1));
  }
  writeFileSync(join(DIST, "SHA256SUMS"), `${sums.join("\n")}\n`);
}

const words = process.argv.slice(2);
const unknown = words.find((word) => word !== "--all" && word !== "--quiet");
if (unknown) throw new Error(`build.ts knows --all and --quiet, not "${unknown}"`);
mkdirSync(DIST, { recursive: true });
if (words.includes("--all")) await buildAll();
else {
  const outfile = join(DIST, platform() === "win32" ? "holdfast.exe" : "holdfast");
  const since = performance.now();
  await compile(outfile);
  if (!words.includes("--quiet")) {
    console.log(
      `Built dist/${basename(outfile)} for ${platform()}-${arch()} in ${Math.round(performance.now() - since)} ms`,
    );
  }
}
