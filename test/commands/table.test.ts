// Does every command that waits for a host take --timeout? A new one cannot forget it.
import { expect, test } from "bun:test";
import { COMMANDS } from "../../src/commands/table.ts";

/** Whoever is not here must have one. */
const WITHOUT: Readonly<Record<string, string>> = {
  serve: "is the host, and stays until it is told to go",
  "background-host": "is the host, and ends by itself when idle",
  plugin: "stays until it is told to go",
  attach: "follows until it is told to go",
  acp: "stays as long as its editor",
  mcp: "stays as long as its client",
  "demo-agent": "stays as long as its keeper",
  demo: "each of its steps has a limit of its own",
  complete: "is asked by shells, and has a second",
  config: "asks no host",
  completions: "asks no host",
  help: "asks no host",
  version: "asks no host",
};

test("[CM4] every command that talks to a host and comes back takes --timeout", async () => {
  const missing: string[] = [];
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { args } = await load();
    if (args["timeout"]?.kind !== "duration" && !Object.hasOwn(WITHOUT, name)) missing.push(name);
  }
  expect(missing).toEqual([]);
  expect(Object.keys(WITHOUT).filter((name) => !Object.hasOwn(COMMANDS, name))).toEqual([]);
});
