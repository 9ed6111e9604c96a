// How is a program of ours started and watched? Its lines are told as they come, its stderr is always drained.
import type { Child, ChildOptions } from "./world.ts";

async function eachLine(stream: ReadableStream<Uint8Array>, tell: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) tell(line);
  }
  if (rest) tell(rest);
}

export function startChild(command: readonly string[], options: ChildOptions): Child {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const read = Promise.all([
    eachLine(child.stdout, (line) => options.line(line)),
    eachLine(child.stderr, (line) => options.errorLine?.(line)),
  ]);
  return {
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    exited: read.then(() => child.exited),
  };
}

export const runInTerminal = (command: readonly string[], env: Readonly<Record<string, string>>): Promise<number> =>
  Bun.spawn([...command], { env: { ...process.env, ...env }, stdio: ["inherit", "inherit", "inherit"] }).exited;
