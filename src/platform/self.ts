// How is this same program started again? Compiled, the executable is all; interpreted, it is bun and the entry.
import { existsSync } from "node:fs";
import { AGENT_TAG } from "./tagged.ts";
import type { StartedProcess } from "./world.ts";

const isCompiled = (): boolean => Bun.main.startsWith("/$bunfs/") || /^[A-Za-z]:[\\/]~BUN/.test(Bun.main);

let instead: string[] | undefined;

export const selfCommand = (): string[] =>
  instead ?? (isCompiled() ? [process.execPath] : [process.execPath, Bun.main]);

/** In a program that only uses us: our entry where there is one beside us, else the program of this name. */
export function actAs(entry: string, name: string): boolean {
  const found = !isCompiled() && existsSync(entry) ? [process.execPath, entry] : Bun.which(name);
  instead = typeof found === "string" ? [found] : (found ?? undefined);
  return instead !== undefined;
}

/** Outlives us: own session, cwd `/`, no stdio of ours. */
export function startDetached(words: readonly string[], more: Readonly<Record<string, string>> = {}): StartedProcess {
  // Inherited, the flag would end the child with us, and the tag with the agent whose shell started us.
  const { BUN_FEATURE_FLAG_NO_ORPHANS: _, [AGENT_TAG]: __, ...env } = process.env;
  const child = Bun.spawn([...selfCommand(), ...words], {
    detached: true,
    cwd: "/",
    env: { ...env, ...more },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  child.unref();
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    wasKilled: () => child.signalCode !== null,
  };
}
