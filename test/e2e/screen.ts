// How does a test sit in front of a real terminal? On a pseudo-terminal that the child has for its own.
import { type Exit, exitOf } from "./process.ts";
import { PATIENCE_MS, until } from "./until.ts";

export interface Screen {
  readonly pid: number;
  /** Every byte that was written to the terminal. */
  readonly output: string;
  readonly exited: Promise<Exit>;
  says(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  type(text: string): void;
  /** As when the window is closed. */
  close(): void;
}

const COLUMNS = 100;
const ROWS = 30;

export function openTerminal(words: readonly string[], env: Record<string, string>): Screen {
  const decoder = new TextDecoder();
  let output = "";
  const child = Bun.spawn([...words], {
    env,
    cwd: "/",
    terminal: {
      cols: COLUMNS,
      rows: ROWS,
      data: (_, data) => {
        output += decoder.decode(data, { stream: true });
      },
    },
  });
  const { terminal } = child;
  if (!terminal) throw new Error("There is no pseudo-terminal");
  return {
    pid: child.pid,
    get output() {
      return output;
    },
    exited: child.exited.then(() => exitOf(child)),
    says: (pattern, timeoutMs = PATIENCE_MS) =>
      until(
        () => `${pattern} on the terminal, which shows ${JSON.stringify(output)}`,
        () => output.match(pattern),
        timeoutMs,
      ),
    type: (text) => void terminal.write(text),
    close() {
      if (!terminal.closed) terminal.close();
    },
  };
}
