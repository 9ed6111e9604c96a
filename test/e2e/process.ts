// How does a test follow a real process? Every line of its output is kept, and waited for by what it says.
import { PATIENCE_MS } from "./until.ts";

export interface StreamEvent {
  seq: number;
  at: string;
  type: string;
  data: Record<string, unknown>;
}

export interface Exit {
  code: number | null;
  signal: string | null;
}

export interface Follow {
  /** Only events from this place in `events` on. */
  since?: number;
  timeoutMs?: number;
}

export interface Proc {
  readonly pid: number;
  readonly name: string;
  readonly events: readonly StreamEvent[];
  readonly stdout: string;
  readonly stderr: string;
  readonly running: boolean;
  readonly exited: Promise<Exit>;
  /** The first event that fits, seen already or still to come. */
  event(type: string, fits?: (data: Record<string, unknown>) => boolean, follow?: Follow): Promise<StreamEvent>;
  outSays(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  errSays(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
  write(text: string): void;
  closeStdin(): void;
}

export interface SpawnOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Left open unless it is a text. */
  stdin?: string;
}

export const exitOf = ({ exitCode, signalCode }: Bun.Subprocess): Exit => ({
  code: exitCode,
  signal: signalCode === null ? null : String(signalCode),
});

interface Waiter {
  look(): boolean;
  fail(why: string): void;
}

const parse = (line: string): StreamEvent | undefined => {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as StreamEvent;
  } catch {
    return undefined;
  }
};

export function startProcess(words: readonly string[], env: Record<string, string>, options: SpawnOptions): Proc {
  const child = Bun.spawn([...words], {
    env: { ...env, ...options.env },
    cwd: options.cwd ?? "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const name = words.slice(1).join(" ");
  const events: StreamEvent[] = [];
  const waiters = new Set<Waiter>();
  let stdout = "";
  let stderr = "";
  let partial = "";
  let running = true;

  const describe = () =>
    `\n--- ${name} (pid ${child.pid}) stdout:\n${stdout.slice(-4000)}\n--- stderr:\n${stderr.slice(-4000)}`;
  const changed = () => {
    for (const waiter of [...waiters]) if (waiter.look()) waiters.delete(waiter);
  };
  const readOut = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const text = decoder.decode(chunk, { stream: true });
      stdout += text;
      const lines = (partial + text).split("\n");
      partial = lines.pop() ?? "";
      for (const line of lines) {
        const event = parse(line);
        if (event) events.push(event);
      }
      changed();
    }
  };
  const readErr = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      stderr += decoder.decode(chunk, { stream: true });
      changed();
    }
  };
  const exited = Promise.all([child.exited, readOut(), readErr()]).then((): Exit => {
    running = false;
    changed();
    for (const waiter of waiters) waiter.fail("the process ended");
    return exitOf(child);
  });

  const wait = <Found>(what: string, look: () => Found | undefined, timeoutMs: number): Promise<Found> => {
    const now = look();
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        look() {
          const found = look();
          if (found === undefined) return false;
          clearTimeout(timer);
          resolve(found);
          return true;
        },
        fail(why) {
          waiters.delete(waiter);
          clearTimeout(timer);
          reject(new Error(`Waited for ${what}, but ${why}${describe()}`));
        },
      };
      const timer = setTimeout(() => waiter.fail(`it did not come within ${timeoutMs} ms`), timeoutMs);
      if (!running) return waiter.fail("the process ended");
      waiters.add(waiter);
    });
  };
  const end = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal);
    return exited;
  };

  if (options.stdin !== undefined) {
    child.stdin.write(options.stdin);
    void child.stdin.end();
  }
  return {
    pid: child.pid,
    name,
    events,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    get running() {
      return running;
    },
    exited,
    event(type, fits = () => true, { since = 0, timeoutMs = PATIENCE_MS } = {}) {
      const look = () => events.slice(since).find((event) => event.type === type && fits(event.data));
      return wait(`event "${type}"`, look, timeoutMs);
    },
    outSays: (pattern, timeoutMs = PATIENCE_MS) =>
      wait(`${pattern} on stdout`, () => stdout.match(pattern) ?? undefined, timeoutMs),
    errSays: (pattern, timeoutMs = PATIENCE_MS) =>
      wait(`${pattern} on stderr`, () => stderr.match(pattern) ?? undefined, timeoutMs),
    kill: (signal) => child.kill(signal),
    end,
    write(text) {
      child.stdin.write(text);
      void child.stdin.flush();
    },
    closeStdin: () => void child.stdin.end(),
  };
}
