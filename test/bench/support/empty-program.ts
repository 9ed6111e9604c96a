// What is the least that any program costs? An empty one, compiled in the same run, and timed the same way.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export async function compileEmpty(directory: string): Promise<string> {
  const source = join(directory, "empty.ts");
  const outfile = join(directory, "empty");
  writeFileSync(source, "export {};\n");
  const built = await Bun.build({ entrypoints: [source], compile: { outfile }, target: "bun", minify: true });
  if (!built.success) throw new AggregateError(built.logs, "Compiling the empty program failed");
  return outfile;
}

/** From its start to its exit. */
export function timeOf(command: string[], env?: Record<string, string>): number {
  const since = performance.now();
  const options = { stdin: "ignore", stdout: "ignore", stderr: "ignore", ...(env ? { env } : {}) } as const;
  const { exitCode } = Bun.spawnSync(command, options);
  const took = performance.now() - since;
  if (exitCode !== 0) throw new Error(`"${command.join(" ")}" ended with ${exitCode}`);
  return took;
}
