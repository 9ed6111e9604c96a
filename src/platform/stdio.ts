// How does a program that speaks lines on its own stdio read and write them?
import { createTerminal } from "./terminal.ts";

/** Resolves at the end of the input. */
export async function readInput(tell: (bytes: Uint8Array) => void, signal: AbortSignal): Promise<void> {
  const reader = Bun.stdin.stream().getReader();
  signal.addEventListener("abort", () => void reader.cancel(), { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    tell(value);
  }
}

/** Waits for a slow reader: nothing is dropped. */
export const createLineOut = (): ((line: string) => void) => {
  const terminal = createTerminal({ env: {} });
  return (line) => terminal.out(`${line}\n`);
};

/** In a session of its own, as the shell tools of real agents run. */
export function startShell(command: string, cwd: string): { output: Promise<string>; kill(): void } {
  const child = Bun.spawn(["sh", "-c", command], {
    cwd,
    detached: true,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return {
    output: Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]).then((both) =>
      both.join(""),
    ),
    kill: () => child.kill("SIGTERM"),
  };
}
