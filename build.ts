// How is the one executable made? `bun build.ts` for this platform, `--release` for every one, packed, with SHA-256 sums.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { basename, join } from "node:path";
import manifest from "./package.json" with { type: "json" };

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

const fileFor = (target: Target): string => `holdfast${target.startsWith("windows") ? ".exe" : ""}`;

/** One archive per platform, with the executable, the README and the license; a SHA-256 sum beside each. */
async function release(): Promise<void> {
  const out = join(DIST, "release");
  rmSync(out, { recursive: true, force: true });
  const sums: string[] = [];
  for (const target of TARGETS) {
    const name = `holdfast-${manifest.version}-${target}`;
    const folder = join(out, name);
    mkdirSync(folder, { recursive: true });
    await compile(join(folder, fileFor(target)), target);
    for (const text of ["README.md", "LICENSE", "CHANGELOG.md"])
      copyFileSync(join(import.meta.dir, text), join(folder, text));
    const archive = `${name}.tar.gz`;
    const packed = Bun.spawnSync(["tar", "-czf", archive, name], { cwd: out, stdio: ["ignore", "ignore", "pipe"] });
    if (packed.exitCode !== 0) throw new Error(`Packing ${archive} failed: ${packed.stderr.toString().trim()}`);
    rmSync(folder, { recursive: true, force: true });
    sums.push(`${sha256(join(out, archive))}  ${archive}`);
    writeFileSync(join(out, `${archive}.sha256`), `${sums.at(-1)}\n`);
    console.log(sums.at(-1));
  }
  writeFileSync(join(out, "SHA256SUMS"), `${sums.join("\n")}\n`);
}

const words = process.argv.slice(2);
const unknown = words.find((word) => word !== "--release" && word !== "--quiet");
if (unknown) throw new Error(`build.ts knows --release and --quiet, not "${unknown}"`);
mkdirSync(DIST, { recursive: true });
if (words.includes("--release")) await release();
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
