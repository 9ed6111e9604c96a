// Where is Chromium or Chrome on this machine?
import { existsSync } from "node:fs";
import { join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"];

const places = (env: Env): string[] => {
  if (process.platform === "darwin") {
    const apps = ["Google Chrome", "Chromium", "Microsoft Edge", "Google Chrome Canary"];
    const roots = ["/Applications", join(env["HOME"] ?? "", "Applications")];
    return roots.flatMap((root) => apps.map((app) => `${root}/${app}.app/Contents/MacOS/${app}`));
  }
  if (process.platform === "win32") {
    const programs = ["Google\\Chrome", "Chromium", "Microsoft\\Edge"];
    const roots = ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"].map((name) => env[name] ?? "");
    return roots.flatMap((root) =>
      programs.map(
        (program) => `${root}\\${program}\\Application\\${program.endsWith("Edge") ? "msedge" : "chrome"}.exe`,
      ),
    );
  }
  return [...NAMES.map((name) => `/usr/bin/${name}`), "/snap/bin/chromium", "/opt/google/chrome/chrome"];
};

/** Named by the environment, on PATH, or where installers put it. */
export function findBrowser(env: Env): string | undefined {
  const named = env["HOLDFAST_CHROMIUM"] ?? env["CHROME_PATH"];
  if (named) return Bun.which(named, { PATH: env["PATH"] ?? "" }) ?? undefined;
  for (const name of NAMES) {
    const found = Bun.which(name, { PATH: env["PATH"] ?? "" });
    if (found) return found;
  }
  return places(env).find((path) => existsSync(path));
}
