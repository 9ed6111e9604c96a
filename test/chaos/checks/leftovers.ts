// Is nothing left after `stop --agents`? Processes, listeners, sockets, keepers' directories, temporary files.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { listeners, unixSockets } from "../../e2e/leftovers.ts";
import type { Violation } from "../history.ts";
import type { Yard } from "../yard.ts";

/** Empty, and ours for ever: sockets with too long a path are made here. */
const SHORT_DIRECTORY = `holdfast-${process.getuid?.()}`;
const GONE_MS = 20_000;

export interface Left {
  processes: string[];
  listeners: string[];
  sockets: string[];
  keepers: string[];
  temporary: string[];
  browsers: string[];
}

const namesIn = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);

function look(yard: Yard): Left {
  return {
    processes: yard.processes.all().map(({ pid, command }) => `${pid} ${command.slice(0, 100)}`),
    listeners: listeners(yard.port),
    sockets: unixSockets(yard.directory),
    keepers: yard.keepers(),
    temporary: namesIn(join(yard.directory, "tmp")).filter((name) => name !== SHORT_DIRECTORY),
    browsers: namesIn(join(yard.state, "browsers")),
  };
}

export const leftOf = (left: Left): Violation[] =>
  Object.entries(left)
    .filter(([, found]) => found.length > 0)
    .map(([what, found]) => ({
      kind: "orphan" as const,
      text: `Left after stop --agents: ${what}: ${found.join("; ")}`,
      at: Date.now(),
    }));

/** Some are still on their way out: they get their time, and no help. */
export async function checkLeft(yard: Yard): Promise<Violation[]> {
  const until = performance.now() + GONE_MS;
  for (;;) {
    const found = leftOf(look(yard));
    if (found.length === 0 || performance.now() > until) return found;
    await Bun.sleep(50);
  }
}
