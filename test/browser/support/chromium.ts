// Where do tests get real browsers to kill? Each with a profile and a port of its own; nothing of it is left.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBrowser } from "../../../src/platform/find-browser.ts";
import { isRunning } from "../../../src/platform/processes.ts";

export interface Chromium {
  readonly url: string;
  readonly webSocketUrl: string;
  readonly port: number;
  readonly pid: number;
  /** As a crash or the kernel would. */
  kill(): void;
  freeze(): void;
  thaw(): void;
  /** Its pages die, it does not. */
  killPages(): void;
  readonly running: boolean;
  /** What it has open besides its own first page. */
  pages(): Promise<string[]>;
  end(): Promise<void>;
}

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-extensions",
  "--remote-debugging-port=0",
];
const START_MS = 30_000;

async function listeningOn(stream: ReadableStream<Uint8Array>): Promise<string> {
  const found = Promise.withResolvers<string>();
  const timer = setTimeout(() => found.reject(new Error(`Chromium did not listen within ${START_MS} ms`)), START_MS);
  void (async () => {
    let text = "";
    const decoder = new TextDecoder();
    // Read to its end: an unread pipe would block it.
    for await (const bytes of stream) {
      if (text.length < 100_000) text += decoder.decode(bytes, { stream: true });
      const url = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (url) found.resolve(url);
    }
    found.reject(new Error(`Chromium ended: ${text.slice(-500)}`));
  })();
  return await found.promise.finally(() => clearTimeout(timer));
}

export async function startChromium(): Promise<Chromium> {
  const command = findBrowser(process.env);
  if (!command) throw new Error("These tests need Chromium or Chrome; on Debian: apt-get install chromium");
  const profile = mkdtempSync(join(tmpdir(), "holdfast-chromium-"));
  const child = Bun.spawn([command, ...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    detached: true,
    // Its lock's socket goes with its profile.
    env: { ...process.env, TMPDIR: profile, XDG_CONFIG_HOME: profile },
  });
  const signal = (name: NodeJS.Signals, pid = child.pid): void => {
    try {
      process.kill(pid, name);
    } catch {
      // Gone.
    }
  };
  let isKilled = false;
  const webSocketUrl = await listeningOn(child.stderr);
  const port = Number(new URL(webSocketUrl).port);
  const pages = async (): Promise<string[]> => {
    const list = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { type: string; url: string }[];
    return list.filter(({ type }) => type === "page").map(({ url }) => url);
  };
  // It listens before it has its first page: beside other work that took it longer than a task waits for an endpoint.
  while ((await pages()).length === 0) await Bun.sleep(15);
  return {
    url: `http://127.0.0.1:${port}`,
    webSocketUrl,
    port,
    pid: child.pid,
    kill() {
      isKilled = true;
      signal("SIGKILL");
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    killPages() {
      for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
        const line = existsSync(`/proc/${name}/cmdline`) ? readFileSync(`/proc/${name}/cmdline`, "utf8") : "";
        if (line.includes("--type=renderer") && line.includes(profile)) signal("SIGKILL", Number(name));
      }
    },
    // A killed one may be seen for 50 ms more: nobody is to be given it.
    get running() {
      return !isKilled && isRunning(child.pid);
    },
    pages,
    async end() {
      signal("SIGKILL", -child.pid);
      await child.exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Those that a file shares; a killed one is replaced when the next is asked for. */
export function chromiumStable(): { take(count: number): Promise<Chromium[]>; end(): Promise<void> } {
  const all: Chromium[] = [];
  return {
    async take(count) {
      for (const each of all) each.thaw();
      const alive = all.filter(({ running }) => running);
      const missing = Array.from({ length: Math.max(0, count - alive.length) }, startChromium);
      const fresh = await Promise.all(missing);
      all.push(...fresh);
      // The fresh ones first: they are the ones that will be killed.
      return [...fresh, ...alive].slice(0, count);
    },
    async end() {
      await Promise.all(all.map((each) => each.end()));
    },
  };
}
