// What stands before each measurement? A host of its own, with the agent running and one conversation behind it.
import type { Child, Yard } from "../support/yard.ts";

export interface WarmHost {
  readonly child: Child;
  readonly binary: string;
  /** What it takes to run one command on this host. */
  command(...words: string[]): string[];
  /** Runs it to its end; what it printed. */
  run(...words: string[]): Promise<string>;
  /** With its agents. */
  end(): Promise<void>;
}

export async function startWarmHost(yard: Yard, binary: string): Promise<WarmHost> {
  const child = yard.start([binary, "serve", "--port", "0", "--json"], { leaves: true });
  const started = await child.message(({ type }) => type === "started", "the host's start");
  const { port } = started["data"] as { port: number };
  const command = (...words: string[]): string[] => [binary, ...words, "--port", String(port)];
  const run = async (...words: string[]): Promise<string> => {
    // It would start a host that nobody ends.
    if (yard.over.aborted) throw new Error("The benchmark was ended");
    const ran = Bun.spawn(command(...words), { env: yard.env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [out, complaints] = await Promise.all([new Response(ran.stdout).text(), new Response(ran.stderr).text()]);
    if ((await ran.exited) !== 0) throw new Error(`"${words.join(" ")}" ended with ${ran.exitCode}: ${complaints}`);
    return out;
  };
  await run("prompt", "demo", "hi");
  return {
    child,
    binary,
    command,
    run,
    async end() {
      child.signal("SIGTERM");
      await child.exited;
    },
  };
}
