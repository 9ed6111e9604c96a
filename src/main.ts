// Argv in, exit code out. The only place that knows signals, and the only one that ends the process by force.

import { COMMANDS } from "./commands/table.ts";
import { VERSION } from "./protocol/version.ts";
import { overview } from "./surface/overview.ts";

const LEAVING_MS = 2_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Not by `node:fs`: to load it takes a quarter of an empty program's start. */
async function print(text: string): Promise<void> {
  try {
    await Bun.write(Bun.stdout, text);
  } catch (thrown) {
    // A reader that has left has read enough.
    if ((thrown as { code?: string }).code !== "EPIPE") throw thrown;
  }
}

/** Everything is closed and the process ends by itself; what should still hang on is cut off. */
function cutOff(): void {
  setTimeout(() => process.exit(), LEAVING_MS).unref();
}

async function main(words: readonly string[]): Promise<void> {
  const [first] = words;
  // Nothing is loaded for these: they start as fast as an empty program.
  if (words.length === 1 && (first === "--version" || first === "-V")) return await print(`holdfast ${VERSION}\n`);
  if (words.length === 0 || (words.length === 1 && (first === "--help" || first === "-h" || first === "help"))) {
    return await print(overview(COMMANDS));
  }
  if (words.length === 2 && first === "keeper") {
    const { runKeeper } = await import("./keeper.ts");
    await runKeeper(words[1] as string);
    // Its agent may live on, with another keeper.
    return cutOff();
  }
  const interrupt = new AbortController();
  let ended = false;
  // Registered before any port is bound. The first one ends gracefully, the second one now.
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // A closed terminal can be told twice, by the shell and by the system: that is not somebody in a hurry.
      if (interrupt.signal.aborted && signal !== "SIGHUP") process.exit(ended ? process.exitCode : 130);
      interrupt.abort(signal);
    });
  }
  const { runCommand } = await import("./app.ts");
  process.exitCode = await runCommand(words, process.env, interrupt);
  ended = true;
  cutOff();
}

void main(process.argv.slice(2));
