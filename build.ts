// How is the one executable made? `bun build.ts` for this platform, `--if-outdated` only where its source is newer,
// `--release` for every platform, packed, with SHA-256 sums.
import { Database } from "bun:sqlite";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { arch, platform } from "node:os";
import { basename, join } from "node:path";
import manifest from "./package.json" with { type: "json" };

const TARGETS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"] as const;
type Target = (typeof TARGETS)[number];

const DIST = join(import.meta.dir, "dist");
export const EXECUTABLE = join(DIST, platform() === "win32" ? "holdfast.exe" : "holdfast");
const SOURCES = ["src", "build.ts", "package.json", "bun.lock", "tsconfig.json"];
const SCRATCH = ".build-";
const OTHERS_MS = 600_000;
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

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A source that was removed shows in the time of its folder. */
function sourceChangedAt(): number {
  const paths = SOURCES.map((name) => join(import.meta.dir, name));
  const below = readdirSync(paths[0] as string, { recursive: true, withFileTypes: true });
  return Math.max(...[...paths, ...below.map(({ parentPath, name }) => join(parentPath, name))].map(changedAt));
}

/** Is there no executable, or one of an older source? */
export const isOutdated = (): boolean => sourceChangedAt() > changedAt(EXECUTABLE);

/** One build at a time: the lock is the kernel's, so a builder that is killed holds up nobody. */
function lockBuilds(): Disposable {
  const lock = new Database(join(DIST, ".lock"));
  lock.run(`PRAGMA busy_timeout = ${OTHERS_MS}`);
  lock.run("BEGIN EXCLUSIVE");
  return lock;
}

/** Moved into place when it is whole, and as old as the source that was read: a change meanwhile is newer. */
async function build(): Promise<void> {
  const since = Math.max(Date.now(), Math.ceil(sourceChangedAt())) / 1000;
  const scratch = join(DIST, `${SCRATCH}${process.pid}`);
  mkdirSync(scratch);
  // Bun leaves a file in the working directory when it is killed.
  process.chdir(scratch);
  const fresh = join(scratch, basename(EXECUTABLE));
  await compile(fresh);
  utimesSync(fresh, since, since);
  renameSync(fresh, EXECUTABLE);
  process.chdir(import.meta.dir);
  rmSync(scratch, { recursive: true });
}

async function main(words: readonly string[]): Promise<void> {
  const known = ["--release", "--quiet", "--if-outdated"];
  const unknown = words.find((word) => !known.includes(word));
  if (unknown) throw new Error(`build.ts knows ${known.join(", ")}, not "${unknown}"`);
  mkdirSync(DIST, { recursive: true });
  using _ = lockBuilds();
  for (const name of readdirSync(DIST)) if (name.startsWith(SCRATCH)) rmSync(join(DIST, name), { recursive: true });
  if (words.includes("--release")) return await release();
  if (words.includes("--if-outdated") && !isOutdated()) return;
  const since = performance.now();
  await build();
  if (words.includes("--quiet")) return;
  const ms = Math.round(performance.now() - since);
  console.log(`Built dist/${basename(EXECUTABLE)} for ${platform()}-${arch()} in ${ms} ms`);
}

if (import.meta.main) await main(process.argv.slice(2));
