// How is a browser of our own started and ended? Its folder says whose it is, so that the next start can clean up.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ProcessMark } from "./agent-world.ts";
import type { BrowserProcess, Browsers } from "./browser-world.ts";
import { findBrowser } from "./find-browser.ts";
import { isDead, isRunning, kill, ownMark } from "./processes.ts";
import { taggedIfSeen } from "./tagged.ts";

type Env = Readonly<Record<string, string | undefined>>;

const TAG = "HOLDFAST_BROWSER";
const STDERR_LINES = 50;
const GONE_MS = 2_000;
const LOOK_MS = 20;
const UNSIGNED_MS = 10_000;

function killAll(pid: number | undefined, tag: string): void {
  if (process.platform === "win32" && pid !== undefined) Bun.spawnSync(["taskkill", "/T", "/F", "/PID", String(pid)]);
  else if (pid !== undefined) kill(-pid, "SIGKILL");
  for (const each of taggedIfSeen(TAG, tag) ?? []) kill(each, "SIGKILL");
}

const SOCKET_FOLDER = /^(org\.chromium\.Chromium|com\.google\.Chrome|com\.microsoft\.Edge)\.\w+$/;

/** Its lock is a socket in the folder for temporary files, since paths of sockets must be short. */
function removeSocket(folder: string): void {
  try {
    const path = dirname(readlinkSync(join(folder, "profile", "SingletonSocket")));
    if (SOCKET_FOLDER.test(basename(path))) rmSync(path, { recursive: true, force: true });
  } catch {
    // There is none.
  }
}

const TEMPORARY = /^holdfast-[0-9a-f]{8}$/;
/** What it adds itself, to the longest path that a socket may have. */
const MAX_TEMPORARY = 107 - "/org.chromium.Chromium.XXXXXX/SingletonSocket".length;

/** A place of its own for what it drops there when it is killed; undefined where the paths would be too long. */
function temporaryFor(tag: string, env: Env): string | undefined {
  const path = join(env["TMPDIR"] || "/tmp", `holdfast-${tag.slice(0, 8)}`);
  return process.platform !== "win32" && path.length <= MAX_TEMPORARY ? path : undefined;
}

/** Where it cannot be, as in a folder that is not there, the browser has the common one. */
function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

const remove = (folder: string): boolean => {
  try {
    removeSocket(folder);
    const { temporary } = readOwner(folder) ?? {};
    if (temporary && TEMPORARY.test(basename(temporary))) rmSync(temporary, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    // A process on its way out still writes there.
    return false;
  }
};

async function endAll(pid: number | undefined, tag: string, folder: string): Promise<void> {
  const deadline = performance.now() + GONE_MS;
  for (;;) {
    killAll(pid, tag);
    const gone = taggedIfSeen(TAG, tag)?.length === 0 && (pid === undefined || !isRunning(pid));
    if ((gone && remove(folder) && !existsSync(folder)) || performance.now() > deadline) return;
    await Bun.sleep(LOOK_MS);
  }
}

/** Whose it is, and the browser in it. */
interface Owner extends ProcessMark {
  browser?: number;
  temporary?: string;
}

function readOwner(folder: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** One that is just being made is not signed yet. */
const isOld = (folder: string): boolean => {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > UNSIGNED_MS;
};

/** Ours, by what it was started with: after a reboot the number may be anybody's. */
function isOurBrowser(pid: number, folder: string): boolean {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    if (process.platform === "win32") return false;
    return Bun.spawnSync(["ps", "-o", "command=", "-p", String(pid)])
      .stdout.toString()
      .includes(folder);
  } catch {
    return false;
  }
}

const COMMON_FLAGS = [
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-extensions",
  "--disable-breakpad",
  "--password-store=basic",
  "--use-mock-keychain",
  "--remote-debugging-port=0",
];

const isRoot = (): boolean => process.getuid?.() === 0;

async function watchOutput(stream: ReadableStream<Uint8Array>, tell: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = (lines.pop() ?? "").slice(-2_000);
      for (const line of lines) tell(line);
    }
  } catch {
    // A pipe that breaks ends like one that closes.
  }
}

/** `directory` holds one folder for each browser that runs; it is private, for profiles hold cookies. */
export function createBrowsers(directory: string, env: Env): Browsers {
  const sign = (folder: string, more: Pick<Owner, "browser" | "temporary"> = {}): void => {
    const owner: Owner = { ...ownMark(), ...more };
    writeFileSync(join(folder, "owner.json"), JSON.stringify(owner), { mode: 0o600 });
  };
  const make = (tag: string, name: string): string => {
    const folder = join(directory, tag);
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    for (const path of [directory, folder]) chmodSync(path, 0o700);
    sign(folder);
    return folder;
  };

  const scratch = (): ReturnType<Browsers["scratch"]> => {
    const folder = make(crypto.randomUUID(), "scratch");
    const end = () => {
      process.off("exit", end);
      remove(folder);
    };
    process.on("exit", end);
    return { path: join(folder, "scratch"), end };
  };

  const launch = (command: string, flags: readonly string[]): BrowserProcess => {
    const tag = crypto.randomUUID();
    const folder = make(tag, "profile");
    // With a sandbox Chromium does not start as root.
    const all = [...COMMON_FLAGS, ...(isRoot() ? ["--no-sandbox"] : []), ...flags];
    const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...plain } = env;
    const temporary = temporaryFor(tag, env);
    // Signed first: whoever cleans up must know of it.
    if (temporary) sign(folder, { temporary });
    const own = temporary && isMade(temporary) ? { temporary } : {};
    const places = {
      XDG_CONFIG_HOME: folder,
      XDG_CACHE_HOME: folder,
      ...(own.temporary ? { TMPDIR: own.temporary } : {}),
    };
    const child = Bun.spawn([command, ...all, `--user-data-dir=${join(folder, "profile")}`, "about:blank"], {
      // Its reports of crashes would go to the user's own settings, and what it loaded to the user's own cache.
      env: { ...plain, ...places, [TAG]: tag },
      cwd: folder,
      detached: true,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    sign(folder, { ...own, browser: child.pid });
    const lines: string[] = [];
    const { promise: listening, resolve } = Promise.withResolvers<string | undefined>();
    void watchOutput(child.stderr, (line) => {
      lines.push(line.slice(0, 500));
      if (lines.length > STDERR_LINES) lines.shift();
      const found = /^DevTools listening on (ws:\/\/\S+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
    const exited = child.exited.then(() => resolve(undefined));
    const endNow = () => {
      killAll(child.pid, tag);
      remove(folder);
    };
    process.on("exit", endNow);
    let ending: Promise<void> | undefined;
    return {
      pid: child.pid,
      listening,
      exited,
      stderr: () => lines,
      end() {
        ending ??= endAll(child.pid, tag, folder).finally(() => process.off("exit", endNow));
        return ending;
      },
    };
  };

  const reap = async (): Promise<number> => {
    const folders = existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
    const left = folders.filter((folder) => {
      const owner = readOwner(folder);
      return owner ? isDead(owner) : isOld(folder);
    });
    await Promise.all(
      left.map((folder) => {
        const browser = readOwner(folder)?.browser;
        const pid = browser !== undefined && isOurBrowser(browser, folder) ? browser : undefined;
        return endAll(pid, folder.slice(directory.length + 1), folder);
      }),
    );
    return left.length;
  };

  return { find: () => findBrowser(env), launch, scratch, reap };
}
