// Is there a browser for the tests? If not, it is installed from Debian's packages where we may; else that is said.
import { findBrowser } from "../../src/platform/find-browser.ts";

const isRoot = process.getuid?.() === 0;

function install(): boolean {
  if (!Bun.which("apt-get")) return false;
  const asRoot = isRoot ? [] : ["sudo", "-n"];
  if (!isRoot && !Bun.which("sudo")) return false;
  const run = (...words: string[]): boolean =>
    Bun.spawnSync([...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...words], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    }).success;
  const get = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"];
  // The lists may be missing in a fresh container.
  return run(...get) || (run("apt-get", "update") && run(...get));
}

if (!findBrowser(process.env)) {
  console.log("No Chromium is here; installing it");
  if (!install() || !findBrowser(process.env)) {
    console.error(
      "The tests need Chromium or Chrome: install it (Debian: apt-get install chromium), or name it in HOLDFAST_CHROMIUM",
    );
    process.exitCode = 1;
  }
}
