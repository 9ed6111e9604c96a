// Does a secret that an agent is given stay with the agent? In its environment, in private files for restarts, and nowhere else.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type AgentStage, inJson, withAgents } from "./agent-stage.ts";
import { commandLine, isRunning } from "./leftovers.ts";
import type { Ran } from "./support.ts";
import { until } from "./until.ts";

const VENDOR_KEY = "sk-canary-of-the-vendor-4711";
const CONFIG_SECRET = "canary-of-the-config-0815";
const ENV = { OPENAI_API_KEY: VENDOR_KEY };

function writeConfig(stage: AgentStage, text: string): void {
  const directory = join(stage.directory, "home", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "config.json"), text);
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** What the next process of the agent is started with. */
const isForRestarts = (path: string): boolean => basename(path) === "codex.env.json" || basename(path) === "spec.json";

const expectHidden = (texts: Readonly<Record<string, string>>): void => {
  const told = Object.entries(texts).filter(([, text]) =>
    [VENDOR_KEY, CONFIG_SECRET].some((each) => text.includes(each)),
  );
  expect(told.map(([where]) => where)).toEqual([]);
};

test(
  "[SC6] [AM10] a vendor's key and a secret of the config reach the agent, and no argument, log, event, status, journal or error text",
  withAgents(async (stage) => {
    stage.installOddAgent();
    writeConfig(stage, JSON.stringify({ agents: { codex: { env: { CONFIG_SECRET } } } }));
    const said: Record<string, string> = {};
    const run = async (...words: string[]): Promise<Ran> => {
      const ran = await stage.run(words, { env: ENV });
      said[words.join(" ")] = ran.stdout + ran.stderr;
      return ran;
    };
    const ask = (text: string, ...flags: string[]) =>
      run("prompt", "codex", text, "--session", "work", "--format", "json", ...flags);

    expect((await ask("end_turn")).code).toBe(0);
    const agent = await stage.agentPid("codex");
    const environment = readFileSync(`/proc/${agent}/environ`, "utf8");
    expect([VENDOR_KEY, CONFIG_SECRET].filter((each) => !environment.includes(each))).toEqual([]);

    // Killed, and started again with the same: what nobody asked for is told in logs.
    process.kill(agent, "SIGKILL");
    await until("the next one", async () => (await stage.agentPid("codex").catch(() => agent)) !== agent);
    expect((await ask("login")).code).toBe(7);
    expect((await ask("end_turn", "--no-such-flag")).code).toBe(2);
    expect((await run("prompt", "nobody", "hello")).code).toBe(3);
    for (const words of [
      "status",
      "status --json",
      "agents",
      "agents --json",
      "sessions --json",
      "config",
      "config --json",
    ])
      expect({ words, code: (await run(...words.split(" "))).code }).toEqual({ words, code: 0 });
    await run("doctor");
    await run("read", "work", "--json");
    await run("login", "codex");

    const ours = [...stage.processes(), ...stage.agentProcesses(), ...stage.holders()];
    expect(stage.keeperPids().length).toBe(1);
    expect(ours.length).toBeGreaterThanOrEqual(4);
    for (const { pid } of ours) said[`arguments of ${pid}`] = commandLine(pid);
    // One that a dead host left in its place, read by the next host.
    const host = stage.listener() ?? 0;
    process.kill(host, "SIGKILL");
    await until("its end", () => !isRunning(host));
    expect((await ask("end_turn")).code).toBe(0);
    // While its keeper has it: what was written to it and what it said lie there too.
    const files = filesBelow(stage.state);
    for (const kind of [/\.ndjson$/, /\/logs\//, /\/in\.log$/, /\/out$/, /\/state\.json$/])
      expect([kind, files.some((path) => kind.test(path))]).toEqual([kind, true]);
    for (const path of files.filter((each) => !isForRestarts(each))) said[path] = readFileSync(path, "utf8");
    const forRestarts = files.filter(isForRestarts).map((path) => [basename(path), statSync(path).mode & 0o777]);
    expect(forRestarts.toSorted()).toEqual([
      ["codex.env.json", 0o600],
      ["spec.json", 0o600],
    ]);
    await run("stop");
    expectHidden(said);
  }),
  90_000,
);

test(
  "[SC6] a config that is refused is told by place and name, never with what stands there",
  withAgents(async (stage) => {
    const said: Record<string, string> = {};
    for (const text of [
      `{"agents":{"codex":{"env":{"KEY":"${CONFIG_SECRET}"},"bogus":1}}}`,
      `{"agents":{"codex":{"env":["${CONFIG_SECRET}"]}}}`,
      `{"agents":{"codex":{"env":"${CONFIG_SECRET}"}}}`,
      `{"agents":{"none":{"env":{"KEY":"${CONFIG_SECRET}"}}}}`,
      `{"agents":{"codex":{"env":{"KEY":${CONFIG_SECRET}}}}}`,
      `{"agents":{"codex":{"env":{"KEY":"${CONFIG_SECRET}"`,
      `${CONFIG_SECRET}`,
    ]) {
      writeConfig(stage, text);
      const { code, stdout, stderr } = await stage.run(inJson("agents"), { env: ENV });
      expect({ text, code }).toEqual({ text, code: 2 });
      expect(stderr).toContain("config.json");
      said[text] = stdout + stderr;
    }
    expectHidden(said);
  }),
  60_000,
);
