// Is there a Chromium on this machine? On PATH under its usual names, else where installers put it.
import { existsSync } from "node:fs";
import { join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"];

const MAC = ["Google Chrome", "Chromium", "Microsoft Edge"].map((name) => `${name}.app/Contents/MacOS/${name}`);
const WINDOWS = ["Google\\Chrome\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe"];

type Env = Readonly<Record<string, string | undefined>>;

function places(env: Env): string[] {
  if (process.platform === "darwin") {
    const roots = ["/Applications", join(env["HOME"] ?? "", "Applications")];
    return roots.flatMap((root) => MAC.map((app) => join(root, app)));
  }
  if (process.platform !== "win32") return ["/snap/bin/chromium", "/opt/google/chrome/chrome"];
  const roots = [env["PROGRAMFILES"], env["PROGRAMFILES(X86)"], env["LOCALAPPDATA"]].filter(
    (root) => root !== undefined,
  );
  return roots.flatMap((root) => WINDOWS.map((exe) => join(root, exe)));
}

export function findChromium(env: Env): string | undefined {
  const named = NAMES.map((name) => Bun.which(name, { PATH: env["PATH"] ?? "" })).find((path) => path !== null);
  return named ?? places(env).find((path) => existsSync(path));
}
