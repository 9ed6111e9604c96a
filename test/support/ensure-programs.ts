// Is everything here that the tests run? What is missing is installed from Debian's packages where we may; else it is said.
import { findBrowser } from "../../src/platform/find-browser.ts";

interface Program {
  name: string;
  package: string;
  isThere(): boolean;
  /** What to do by hand; without it the tests of it are skipped, and nothing else. */
  needed?: string;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "Chromium",
    package: "chromium",
    isThere: () => findBrowser(process.env) !== undefined,
    needed:
      "The tests need Chromium or Chrome: install it (Debian: apt-get install chromium), or name it in HOLDFAST_CHROMIUM",
  },
  ...["zsh", "fish"].map((name) => ({ name, package: name, isThere: () => Bun.which(name) !== null })),
];

const isRoot = process.getuid?.() === 0;

function install(packages: readonly string[]): boolean {
  if (!Bun.which("apt-get")) return false;
  const asRoot = isRoot ? [] : ["sudo", "-n"];
  if (!isRoot && !Bun.which("sudo")) return false;
  const run = (...words: string[]): boolean =>
    Bun.spawnSync([...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...words], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    }).success;
  const get = ["apt-get", "install", "-y", "--no-install-recommends", ...packages];
  // The lists may be missing in a fresh container.
  return run(...get) || (run("apt-get", "update") && run(...get));
}

const missing = PROGRAMS.filter(({ isThere }) => !isThere());
if (missing.length > 0) {
  console.log(`Not here: ${missing.map(({ name }) => name).join(", ")}; installing`);
  install(missing.map((each) => each.package));
  for (const { name, isThere, needed } of missing) {
    if (isThere()) continue;
    console.error(needed ?? `Without ${name} its completions are not tested`);
    if (needed) process.exitCode = 1;
  }
}
