// What does every end-to-end test stand on? A stage: the built binary, a home, a state directory and a port of its own.
// When the test is over everything is ended in good order, and nothing may be left.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "../support/binary.ts";
import { listeners, type Reserved, reservePort, signal, taggedProcesses, unixSockets } from "./leftovers.ts";
import { type Exit, type Proc, type SpawnOptions, startProcess } from "./process.ts";
import { openTerminal, type Screen } from "./screen.ts";
import { until } from "./until.ts";

export interface Ran {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  ms: number;
}

export interface Health {
  status: number;
  body: Record<string, unknown>;
}

export interface Stage {
  readonly port: number;
  /** Everything of this test is below it. */
  readonly directory: string;
  /** Where the binary keeps its token, settings and logs. */
  readonly state: string;
  readonly env: Record<string, string>;
  /** Holdfast processes, hosts in the background and keepers included. */
  processes(): { pid: number; command: string }[];
  /** Directories of agents that a keeper holds, or held. */
  keepers(): string[];
  spawn(words: readonly string[], options?: SpawnOptions): Proc;
  run(words: readonly string[], options?: SpawnOptions): Promise<Ran>;
  /** The line goes to a shell, with the binary on its PATH. */
  shell(line: string, options?: SpawnOptions): Promise<Ran>;
  spawnShell(line: string, options?: SpawnOptions): Proc;
  onTerminal(words: readonly string[], options?: { env?: Record<string, string> }): Screen;
  serve(...flags: string[]): Promise<Proc>;
  standby(...flags: string[]): Promise<Proc>;
  plugin(instance: string, ...flags: string[]): Promise<Proc>;
  /** Who hosts now, as `status` tells; undefined: nobody. */
  hostPid(): Promise<number | undefined>;
  /** Undefined: nobody answers. */
  health(): Promise<Health | undefined>;
  /** Runs at the end, before the processes are ended. */
  defer(work: () => void | Promise<void>): void;
}

const END_MS = 20_000;
/** Empty, and ours for ever: sockets with too long a path are made here. */
export const SHORT_DIRECTORY = `holdfast-${process.getuid?.()}`;
const RUN_MS = 90_000;

export const staged =
  (body: (stage: Stage) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const { stage, leave } = openStage(await reservePort());
    let failed = true;
    try {
      await body(stage);
      failed = false;
    } finally {
      await leave(failed);
    }
  };

function openStage({ port, release }: Reserved): { stage: Stage; leave(failed: boolean): Promise<void> } {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-e2e-"));
  const [home, stateHome, bin, temporary] = ["home", "state", "bin", "tmp"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const path of [home, bin, temporary]) mkdirSync(path);
  const tag = `HOLDFAST_E2E_TAG=${crypto.randomUUID()}`;
  const [tagName, tagValue] = tag.split("=") as [string, string];
  const env: Record<string, string> = {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    XDG_STATE_HOME: stateHome,
    TMPDIR: temporary,
    TERM: "xterm",
    HOLDFAST_PORT: String(port),
    [tagName]: tagValue,
  };
  const procs: Proc[] = [];
  const deferred: (() => void | Promise<void>)[] = [];
  Bun.spawnSync(["ln", "-s", BINARY, join(bin, "holdfast")]);

  const start = (words: readonly string[], options: SpawnOptions = {}): Proc => {
    const proc = startProcess(words, env, options);
    procs.push(proc);
    return proc;
  };
  const finish = async (words: readonly string[], options: SpawnOptions = {}): Promise<Ran> => {
    const since = performance.now();
    const proc = start(words, { stdin: "", ...options });
    const timer = setTimeout(() => proc.kill("SIGKILL"), RUN_MS);
    const exit: Exit = await proc.exited;
    clearTimeout(timer);
    procs.splice(procs.indexOf(proc), 1);
    return { ...exit, stdout: proc.stdout, stderr: proc.stderr, ms: performance.now() - since };
  };
  const spawn: Stage["spawn"] = (words, options) => start([BINARY, ...words], options);

  const stage: Stage = {
    port,
    directory,
    state: join(stateHome, "holdfast"),
    env,
    processes: () => taggedProcesses(tag),
    keepers() {
      const home = join(env["XDG_STATE_HOME"] ?? "", "holdfast", "ports", String(port), "keepers");
      return existsSync(home) ? readdirSync(home).map((name) => join(home, name)) : [];
    },
    spawn,
    run: (words, options) => finish([BINARY, ...words], options),
    shell: (line, options) => finish(["bash", "-c", line], options),
    spawnShell: (line, options) => start(["bash", "-c", line], options),
    onTerminal(words, options = {}) {
      const screen = openTerminal([BINARY, ...words], { ...env, ...options.env });
      deferred.push(screen.close);
      return screen;
    },
    async serve(...flags) {
      const proc = spawn(["serve", "--json", ...flags]);
      await proc.event("started");
      return proc;
    },
    standby: (...flags) => stage.serve("--standby", ...flags),
    async plugin(instance, ...flags) {
      const proc = spawn(["plugin", "js", "--json", "--instance", instance, ...flags]);
      await proc.event("connected");
      return proc;
    },
    async hostPid() {
      const { code, stdout } = await stage.run(["status", "--json"]);
      return code === 0 ? JSON.parse(stdout).pid : undefined;
    },
    async health() {
      try {
        const headers = { connection: "close" };
        const response = await fetch(`http://127.0.0.1:${port}/health`, {
          headers,
          signal: AbortSignal.timeout(5_000),
        });
        const text = await response.text();
        return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : {} };
      } catch {
        return undefined;
      }
    },
    defer: (work) => void deferred.push(work),
  };

  const endAll = async (): Promise<void> => {
    for (const work of deferred.reverse()) await work();
    for (const { pid } of stage.processes()) signal(pid, "SIGCONT");
    for (const proc of procs) if (proc.running) proc.kill("SIGTERM");
    await until(
      `the end after SIGTERM of: ${procs.map(({ pid, name }) => `${pid} ${name}`).join(", ")}`,
      () => procs.every(({ running }) => !running),
      END_MS,
    );
    const areGone = async () => {
      // Hosts in the background go on, and agents without any: one that was just started may not even listen yet.
      if (listeners(port).length > 0 || stage.keepers().length > 0) await finish([BINARY, "stop", "--agents"]);
      return stage.processes().length === 0;
    };
    await until(() => `the end of ${JSON.stringify(stage.processes())}`, areGone, END_MS);
    const left = {
      listeners: listeners(port),
      sockets: unixSockets(directory),
      keepers: stage.keepers(),
      temporary: readdirSync(temporary, { recursive: true }).filter((name) => name !== SHORT_DIRECTORY),
    };
    if (Object.values(left).some((found) => found.length > 0)) throw new Error(`Left behind: ${JSON.stringify(left)}`);
  };

  return {
    stage,
    async leave(failed) {
      const transcripts = () =>
        procs
          .map(
            (p) => `--- ${p.name} (pid ${p.pid})\n${p.stdout.slice(-3000)}\n--- its stderr\n${p.stderr.slice(-3000)}`,
          )
          .join("\n");
      if (failed) console.error(`${transcripts()}\n--- running: ${JSON.stringify(stage.processes(), null, 1)}`);
      try {
        await endAll();
      } catch (thrown) {
        if (!failed) throw thrown;
        console.error(`And afterwards: ${thrown}`);
      } finally {
        for (const { pid } of stage.processes()) signal(pid, "SIGKILL");
        rmSync(directory, { recursive: true, force: true });
        release();
      }
      if (existsSync(directory)) throw new Error(`"${directory}" is left`);
    },
  };
}
