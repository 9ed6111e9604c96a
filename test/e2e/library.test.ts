// Does a program that uses the library leave agents alone? Whoever is killed, the turn goes on, with it in line or not.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, chunks, inJson, prompt, textOf, withAgents } from "./agent-stage.ts";
import type { Proc } from "./process.ts";

const LIBRARY = process.env["HOLDFAST_LIBRARY"] ?? join(import.meta.dir, "../../src/library.ts");

/** As the README shows it. */
async function program(stage: AgentStage, options: string): Promise<Proc> {
  const file = join(stage.directory, "program.ts");
  const lines = [
    `import { BridgeConnection } from ${JSON.stringify(LIBRARY)};`,
    `const bridge = await BridgeConnection.connect({ port: ${stage.port}, ${options} });`,
    `bridge.on("role-changed", ({ role }) => console.log("now", role));`,
    `console.log("connected as", bridge.role);`,
    "await new Promise(() => setInterval(() => {}, 1_000));",
  ];
  writeFileSync(file, lines.join("\n"));
  const proc = stage.spawnShell(`exec "${process.execPath}" "${file}"`);
  await proc.outSays(/connected as/);
  return proc;
}

for (const [says, options] of [
  ["that only joined", ""],
  ["that stands in line", "standing: true"],
]) {
  test(
    `[LB1] [KP1] the host is killed beside a library program ${says}: the turn that runs is whole, and exits 0`,
    withAgents(async (stage) => {
      const host = await stage.serve();
      await program(stage, options ?? "");
      const running = stage.spawn(inJson(...prompt("work", "stream 300 10")));
      await running.event("update");
      await host.end("SIGKILL");
      expect({ ...(await running.exited), stderr: running.stderr }).toEqual({ code: 0, signal: null, stderr: "" });
      expect(textOf(running.events)).toBe(chunks(300));
    }),
    60_000,
  );
}

test(
  "[LB1] a library program finds no host: it starts one in the background, with agents",
  withAgents(async (stage) => {
    const proc = await program(stage, "");
    expect(proc.stdout).toContain("connected as client");
    expect((await stage.run(["prompt", "demo", "hello"])).stdout).toBe("hello (turn 1)\n");
    expect((await stage.run(["status", "--json"])).stdout).toContain(`"background":true`);
  }),
  60_000,
);
