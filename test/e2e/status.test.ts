// Does status tell what a person needs when an agent does not work?
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withAgents } from "./agent-stage.ts";

test(
  "[AM8] status shows the last three lines of stderr of an agent that is not connected, and none of one that is",
  withAgents(async (stage) => {
    const config = join(stage.directory, "home", ".config", "holdfast");
    mkdirSync(config, { recursive: true });
    const script = "for n in 1 2 3 4 5; do echo complaint $n >&2; done; exit 3";
    const agents = { broken: { command: "sh", args: ["-c", script], displayName: "Broken" } };
    writeFileSync(join(config, "config.json"), JSON.stringify({ agents }));
    expect((await stage.run(["prompt", "broken", "hello"])).code).toBe(1);
    expect((await stage.run(["prompt", "demo", "hello", "-s", "work"])).code).toBe(0);
    const { code, stdout } = await stage.run(["status"]);
    expect(code).toBe(0);
    const shown = /^ {2}agents +2\n([\s\S]*) {2}agent sessions/m.exec(stdout)?.[1] ?? stdout;
    expect(shown.split("\n").filter((line) => !line.startsWith("    demo  connected  pid "))).toEqual([
      "    broken  disconnected  pid none",
      "      stderr: complaint 3",
      "      stderr: complaint 4",
      "      stderr: complaint 5",
      "",
    ]);
  }),
  60_000,
);
