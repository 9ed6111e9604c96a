// Where does output really go, and is anybody there? Written with writeSync: no byte is lost when the process ends.
import { fstatSync, statSync, writeSync } from "node:fs";
import type { WriteStream } from "node:tty";

export interface Terminal {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** Colour on stdout. */
  readonly color: boolean;
  /** Colour on stderr. */
  readonly errColor: boolean;
  /** A line on stderr can be erased and written again. */
  readonly errRewrites: boolean;
  /** Of the terminal as it is now; 80 where there is none. */
  readonly columns: number;
  out(text: string): void;
  err(text: string): void;
  /** Told once, when the reader of either is gone; whatever is written after that is dropped. */
  onClosedPipe(run: () => void): void;
}

export interface TerminalOptions {
  stdinFd?: number;
  stdoutFd?: number;
  stderrFd?: number;
  /** Writes to stdout in place of `writeSync`. */
  out?: (text: string) => void;
  env: Readonly<Record<string, string | undefined>>;
}

const GONE = new Set(["EPIPE", "ECONNRESET", "EIO"]);
const RETRY_MS = 2;

export function createTerminal({ stdinFd = 0, stdoutFd = 1, stderrFd = 2, env, out }: TerminalOptions): Terminal {
  const silent = new Set<number>();
  let readerGone = false;
  let whenGone: (() => void) | undefined;

  const close = (fd: number) => {
    silent.add(fd);
    if (readerGone) return;
    readerGone = true;
    whenGone?.();
  };

  const write = (fd: number, text: string) => {
    if (silent.has(fd)) return;
    const bytes = Buffer.from(text);
    let offset = 0;
    while (offset < bytes.length) {
      try {
        offset += writeSync(fd, bytes, offset);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? "";
        if (code === "EAGAIN" || code === "EINTR") pause();
        else if (GONE.has(code)) return close(fd);
        // A full disk under stderr must not end the work; under stdout it must.
        else if (fd === stderrFd) return void silent.add(fd);
        else throw error;
      }
    }
  };

  const isTty = remember((fd: number) => isTerminal(fd));
  const sized = remember((fd: number): WriteStream => new (tty().WriteStream)(fd));
  const colored = (fd: number) => {
    if (env["NO_COLOR"]) return false;
    const forced = env["FORCE_COLOR"];
    if (forced !== undefined) return forced !== "0" && forced !== "false";
    return env["TERM"] !== "dumb" && isTty(fd);
  };

  return {
    get stdinIsTty() {
      return isTty(stdinFd);
    },
    get stdoutIsTty() {
      return isTty(stdoutFd);
    },
    get stderrIsTty() {
      return isTty(stderrFd);
    },
    get color() {
      return colored(stdoutFd);
    },
    get errColor() {
      return colored(stderrFd);
    },
    get errRewrites() {
      return env["TERM"] !== "dumb" && isTty(stderrFd);
    },
    get columns() {
      const said = Number(env["COLUMNS"]);
      if (Number.isInteger(said) && said > 0) return said;
      const fd = [stdoutFd, stderrFd].find((each) => isTty(each));
      return (fd === undefined ? 0 : columnsOf(sized(fd))) || 80;
    },
    out: out ?? ((text) => write(stdoutFd, text)),
    err: (text) => write(stderrFd, text),
    onClosedPipe(run) {
      whenGone = run;
      if (readerGone) run();
    },
  };
}

/** All of it. On the signal the read itself is given up: left open it would keep the process alive. */
export async function readStdin(signal?: AbortSignal): Promise<string> {
  const reader = Bun.stdin.stream().getReader();
  const decoder = new TextDecoder();
  let text = "";
  const giveUp = () => void reader.cancel();
  signal?.addEventListener("abort", giveUp, { once: true });
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
  }
  signal?.removeEventListener("abort", giveUp);
  // Half a script must not be taken for a whole one.
  signal?.throwIfAborted();
  return text + decoder.decode();
}

// Loaded when first needed: it costs 10 to 20 ms, as the first use of process.stdout does.
const tty = () => process.getBuiltinModule("node:tty");

function isTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() && stat.rdev !== nullDevice() && tty().isatty(fd);
  } catch {
    return false;
  }
}

const nullDevice = (): number | undefined => statSync("/dev/null", { throwIfNoEntry: false })?.rdev;

function columnsOf(stream: WriteStream): number {
  // The size is read when the stream is made, and then only if asked to.
  (stream as WriteStream & { _refreshSize?(): void })._refreshSize?.();
  return stream.columns;
}

const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);

function remember<Value>(find: (fd: number) => Value): (fd: number) => Value {
  const known = new Map<number, Value>();
  return (fd) => {
    const value = known.get(fd) ?? find(fd);
    known.set(fd, value);
    return value;
  };
}
