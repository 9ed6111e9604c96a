// How does a browser of our own come up? Found on this machine, started headless, reached where it says it listens.
import type { BrowserProcess, Browsers } from "../platform/browser-world.ts";
import type { Clock } from "../platform/world.ts";
import { Fault } from "../protocol/fault.ts";
import { race } from "./race.ts";

const LAUNCH_MS = 20_000;

/** For a browser of our own the names of all other hosts do not even resolve: that holds for workers and sockets too. */
const domainFlags = (domains: readonly string[]): string[] =>
  domains.length === 0
    ? []
    : [
        `--host-resolver-rules=MAP * ~NOTFOUND, ${domains
          .map((domain) => domain.replace(/^\*\./, ""))
          .flatMap((domain) => [`EXCLUDE ${domain}`, `EXCLUDE *.${domain}`])
          .join(", ")}`,
      ];

export async function localBrowser(
  browsers: Browsers,
  domains: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<{ url: string; process: BrowserProcess }> {
  const command = browsers.find();
  if (!command) {
    const message =
      "No Chromium or Chrome was found; install one (Debian: apt-get install chromium), name it in HOLDFAST_CHROMIUM, or give a running one with --cdp";
    throw new Fault("USAGE", message);
  }
  const process = browsers.launch(command, domainFlags(domains));
  const late = () => new Error(`"${command}" did not listen within ${LAUNCH_MS} ms`);
  try {
    const url = await race(process.listening, { clock, ms: LAUNCH_MS, late, signals: [signal] });
    if (url) return { url, process };
    const why = process
      .stderr()
      .filter((line) => line.trim() !== "" && !line.includes("dbus"))
      .at(-1);
    throw new Error(`"${command}" ended at once${why ? `: ${why}` : ""}`);
  } catch (thrown) {
    await process.end();
    throw thrown;
  }
}
