// Who ends what a benchmark started? The yard: every child and the one temporary folder end with it, however it ends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One JSON object per line on stdout. */
export type Message = Record<string, unknown>;

export interface Child {
  readonly pid: number;
  readonly messages: readonly Message[];
  say(message: Message): void;
  signal(name: NodeJS.Signals): void;
  /** The first message from `since` on that this holds for. */
  message(wanted: (message: Message) => boolean, what: string, since?: number): Promise<Message>;
  readonly exited: Promise<unknown>;
}

export interface Yard {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly over: AbortSignal;
  /** `leaves`: it has others to end, and gets the time for it. */
  start(command: readonly string[], how?: { leaves: boolean }): Child;
  /** Idempotent. */
  end(): Promise<void>;
}

const WAIT_MS = 15_000;
const LEAVING_MS = 10_000;
const LOOK_EACH_MS = 2;
const STDERR_KEPT = 2_000;

export async function until<Found>(look: () => Found | undefined, what: () => string): Promise<Found> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`Waited ${WAIT_MS} ms in vain for ${what()}`);
    await Bun.sleep(LOOK_EACH_MS);
  }
}

async function readLines(stream: ReadableStream<Uint8Array>, tell: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") tell(line);
  }
}

type Env = Readonly<Record<string, string>>;

function start(command: readonly string[], env: Env, over: AbortSignal): Child {
  const messages: Message[] = [];
  let complaints = "";
  let ended = false;
  const subprocess = Bun.spawn([...command], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env,
  });
  const { pid, stdin, stdout, stderr } = subprocess;
  const read = [
    readLines(stdout, (line) => messages.push(JSON.parse(line))),
    // An unread pipe would block the child.
    readLines(stderr, (line) => {
      complaints = `${complaints}${line}\n`.slice(-STDERR_KEPT);
    }),
  ];
  const exited = Promise.all([subprocess.exited, ...read]).then(() => {
    ended = true;
  });
  const signal = (name: NodeJS.Signals): void => {
    if (!ended) subprocess.kill(name);
  };
  return {
    pid,
    messages,
    exited,
    signal,
    say(message) {
      stdin.write(`${JSON.stringify(message)}\n`);
      stdin.flush();
    },
    message(wanted, what, since = 0) {
      const seen = () => `${what} of "${command.join(" ")}"\n${complaints}`;
      const look = () => {
        if (over.aborted) throw new Error("The benchmark was ended");
        const found = messages.slice(since).find(wanted);
        if (ended && !found) throw new Error(`Ended before ${seen()}`);
        return found;
      };
      return until(look, seen);
    },
  };
}

export function createYard(): Yard {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const over = new AbortController();
  const env = {
    PATH: process.env["PATH"] ?? "",
    TMPDIR: directory,
    HOME: directory,
    XDG_STATE_HOME: join(directory, "state"),
  };
  const running = new Map<Child, { leaves: boolean }>();

  const endOf = async (child: Child, leaves: boolean): Promise<unknown> => {
    if (leaves) {
      child.signal("SIGTERM");
      await Promise.race([child.exited, Bun.sleep(LEAVING_MS)]);
    }
    child.signal("SIGKILL");
    return await child.exited;
  };
  const end = async (): Promise<void> => {
    over.abort();
    await Promise.all([...running].map(([child, { leaves }]) => endOf(child, leaves)));
    rmSync(directory, { recursive: true, force: true });
  };
  let ending: Promise<void> | undefined;

  return {
    directory,
    env,
    over: over.signal,
    start(command, how = { leaves: false }) {
      if (over.signal.aborted) throw new Error("The benchmark was ended");
      const child = start(command, env, over.signal);
      running.set(child, how);
      void child.exited.then(() => running.delete(child));
      return child;
    },
    end() {
      ending ??= end();
      return ending;
    },
  };
}
