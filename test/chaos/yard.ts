// Where does it all take place? A home, a state directory and a port of its own, and every command that is run there.
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning, reservePort } from "../e2e/leftovers.ts";
import type { About, Command, History, SeenEvent } from "./history.ts";
import { createProcesses, type Processes } from "./processes.ts";

export interface RunOptions {
  about?: About;
  env?: Record<string, string>;
  /** After so long it is a violation that it still runs; none for those that stay. */
  deadlineMs?: number;
  /** Called with each line of JSON. */
  heard?(event: SeenEvent): void;
  /** In front of the binary: `bash -c 'ulimit …'`. */
  prefix?: readonly string[];
}

export interface Running {
  command: Command;
  ended: Promise<Command>;
  isOver(): boolean;
  /** Noted, so that its exit code is judged by it. */
  tell(signal: NodeJS.Signals): void;
  write(text: string): void;
  closeInput(): void;
}

export interface Yard {
  readonly port: number;
  readonly directory: string;
  readonly state: string;
  readonly env: Record<string, string>;
  readonly history: History;
  readonly processes: Processes;
  /** Those that we started and that still run. */
  readonly running: Set<Running>;
  start(kind: string, words: readonly string[], options?: RunOptions): Running;
  run(kind: string, words: readonly string[], options?: RunOptions): Promise<Command>;
  /** Something that is asked of a process which stays, judged as if it were a command. */
  record(kind: string, words: readonly string[], about: About): Command;
  /** Signals any process of ours; a command of ours knows that it was told. */
  signal(pid: number, signal: NodeJS.Signals): boolean;
  sessionsDirectory(): string;
  keepers(): string[];
  /** Copies what is needed to understand it later. */
  keep(to: string): void;
  remove(): void;
}

export const BINARY = process.env["HOLDFAST_BINARY"] ?? join(import.meta.dir, "../../dist/holdfast");
const DEADLINE_MS = 90_000;

const parse = (line: string): SeenEvent | undefined => {
  try {
    const event = JSON.parse(line);
    return typeof event?.seq === "number" && typeof event.type === "string" ? event : undefined;
  } catch {
    return undefined;
  }
};

/** Whoever reads it may just have been killed. */
function unlessGone(write: () => unknown): void {
  try {
    Promise.resolve(write()).catch(() => undefined);
  } catch {
    // Its end is told elsewhere.
  }
}

const open = new Set<Yard>();

/** Somebody wants to be gone now: nothing is waited for, and nothing is left. */
export function abandonYards(): void {
  for (const yard of open) {
    for (const { pid } of yard.processes.all()) process.kill(pid, "SIGKILL");
    yard.remove();
  }
}

export async function openYard(history: History, parent: string | undefined): Promise<Yard> {
  const { port, release } = await reservePort();
  const directory = mkdtempSync(join(parent ?? tmpdir(), "hf-chaos-"));
  const at = (name: string): string => join(directory, name);
  for (const name of ["home", "tmp", "bin", "work", ".config"]) mkdirSync(at(name));
  mkdirSync(join(at(".config"), "holdfast"), { mode: 0o700 });
  // A second kind of agent: a host has more than one keeper to adopt.
  const second = { command: BINARY, args: ["demo-agent"], displayName: "Second", environment: ["XDG_*"] };
  writeFileSync(join(at(".config"), "holdfast", "config.json"), JSON.stringify({ agents: { second } }), {
    mode: 0o600,
  });
  const tag = `HOLDFAST_CHAOS=${crypto.randomUUID()}`;
  const env: Record<string, string> = {
    PATH: `${at("bin")}:${process.env["PATH"] ?? ""}`,
    HOME: at("home"),
    XDG_STATE_HOME: at("state"),
    XDG_CONFIG_HOME: at(".config"),
    TMPDIR: at("tmp"),
    TERM: "dumb",
    HOLDFAST_PORT: String(port),
    HOLDFAST_CHAOS: tag.slice(tag.indexOf("=") + 1),
  };
  const state = join(at("state"), "holdfast");
  const processes = createProcesses(port, [tag, `XDG_STATE_HOME=${env["XDG_STATE_HOME"]}`]);
  const running = new Set<Running>();
  let ids = 0;

  const record = (kind: string, words: readonly string[], about: About, pid = 0): Command => {
    const at = Date.now();
    const command: Command = {
      id: ++ids,
      kind,
      words,
      pid,
      at,
      about,
      code: null,
      signal: null,
      out: "",
      err: "",
      events: [],
      told: [],
    };
    history.commands.push(command);
    return command;
  };

  const start: Yard["start"] = (kind, words, options = {}) => {
    const line = [...(options.prefix ?? []), BINARY, ...words];
    const child = Bun.spawn(line, {
      env: { ...env, ...options.env },
      cwd: at("work"),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    const command = record(kind, words, options.about ?? {}, child.pid);
    const isJson = words.includes("--json");
    const readOut = async (): Promise<void> => {
      const decoder = new TextDecoder();
      let partial = "";
      for await (const bytes of child.stdout) {
        const text = decoder.decode(bytes, { stream: true });
        if (!isJson || kind === "read") command.out += text;
        const lines = (partial + text).split("\n");
        partial = lines.pop() ?? "";
        for (const event of isJson ? lines.map(parse) : []) {
          if (!event) continue;
          command.events.push(event);
          options.heard?.(event);
        }
        for (const each of isJson ? [] : lines) options.heard?.({ seq: 0, at: "", type: "line", data: { text: each } });
      }
    };
    const readErr = async (): Promise<void> => {
      const decoder = new TextDecoder();
      for await (const bytes of child.stderr) command.err += decoder.decode(bytes, { stream: true });
    };
    const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    const late = (): void => {
      command.isHung = true;
      child.kill("SIGKILL");
    };
    const timer = deadlineMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(late, deadlineMs);
    const ended = Promise.all([child.exited, readOut(), readErr()]).then((): Command => {
      clearTimeout(timer);
      command.endedAt = Date.now();
      command.code = child.signalCode === null ? child.exitCode : null;
      command.signal = child.signalCode === null ? null : String(child.signalCode);
      running.delete(made);
      return command;
    });
    const made: Running = {
      command,
      ended,
      isOver: () => command.endedAt !== undefined,
      tell(signal) {
        command.told.push({ at: Date.now(), signal });
        child.kill(signal);
      },
      write: (text) =>
        unlessGone(() => {
          child.stdin.write(text);
          return child.stdin.flush();
        }),
      closeInput: () => unlessGone(() => child.stdin.end()),
    };
    running.add(made);
    return made;
  };

  const yard: Yard = {
    port,
    directory,
    state,
    env,
    history,
    processes,
    running,
    start,
    record: (kind, words, about) => record(kind, words, about),
    run(kind, words, options) {
      const started = start(kind, words, options);
      started.closeInput();
      return started.ended;
    },
    signal(pid, signal) {
      const own = [...running].find(({ command }) => command.pid === pid);
      if (own) own.command.told.push({ at: Date.now(), signal });
      if (!isRunning(pid)) return false;
      try {
        process.kill(pid, signal);
        return true;
      } catch {
        return false;
      }
    },
    sessionsDirectory: () => join(state, "ports", String(port), "sessions"),
    keepers() {
      const home = join(state, "ports", String(port), "keepers");
      return existsSync(home) ? readdirSync(home) : [];
    },
    keep(to) {
      mkdirSync(to, { recursive: true });
      // Sockets and pipes cannot be copied, and need not be.
      const filter = (path: string): boolean => !/\/keepers\/[^/]+\/(s|in|out)$|\/browsers(\/|$)/.test(path);
      if (existsSync(state)) cpSync(state, join(to, "state"), { recursive: true, filter });
      const tokens = at("work/tokens");
      if (existsSync(tokens)) copyFileSync(tokens, join(to, "tokens"));
    },
    remove() {
      rmSync(directory, { recursive: true, force: true });
      open.delete(yard);
      release();
    },
  };
  open.add(yard);
  return yard;
}
