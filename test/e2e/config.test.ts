// Are settings taken from where they are said, and does `config` tell the truth about it?
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Stage, staged } from "./support.ts";

interface Shown {
  name: string;
  value: unknown;
  default: unknown;
  source: string;
  where: string | null;
  reason: string;
  host?: unknown;
}

async function shown(stage: Stage, flags: string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await stage.run(["config", "--json", ...flags], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { settings } = JSON.parse(stdout) as { settings: Shown[] };
  return (name: string) => settings.find((each) => each.name === name);
}

function writeConfig(stage: Stage, text: string): string {
  const directory = join(stage.directory, "home", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, "config.json");
  writeFileSync(file, text);
  return file;
}

test(
  "[CM6] default, file, environment and flag win in this order, and each is told with its place",
  staged(async (stage) => {
    expect((await shown(stage))("MAX_IDLE_MS")).toMatchObject({ value: 1_800_000, source: "default", where: null });
    const file = writeConfig(stage, '{\n  "MAX_CLIENTS": 3,\n  "MAX_IDLE_MS": 60000\n}');
    const fromFile = await shown(stage);
    expect(fromFile("MAX_IDLE_MS")).toMatchObject({ value: 60_000, source: "file", where: `${file} line 3` });
    const env = { MAX_IDLE_MS: "70000" };
    expect((await shown(stage, [], env))("MAX_IDLE_MS")).toMatchObject({ value: 70_000, source: "environment" });
    expect(fromFile("port")).toMatchObject({ value: stage.port, source: "environment", where: "HOLDFAST_PORT" });
    const flagged = await shown(stage, ["--port", "1234"]);
    expect(flagged("port")).toMatchObject({ value: 1234, source: "flag", where: "--port", default: 38741 });
    const other = join(stage.directory, "other.json");
    writeFileSync(other, '{ "MAX_IDLE_MS": 5 }');
    const chosen = await shown(stage, ["--config", other]);
    expect(chosen("MAX_IDLE_MS")).toMatchObject({ value: 5, where: `${other} line 1` });
    expect(chosen("configFile")).toMatchObject({ value: other, source: "flag", where: "--config" });
  }),
  60_000,
);

test(
  "[CM6] a host began with what was said then, also one in the background with --config, and config says where it differs",
  staged(async (stage) => {
    const file = join(stage.directory, "other.json");
    writeFileSync(file, '{ "MAX_CLIENTS": 3, "MAX_IDLE_MS": 60000 }');
    // Relative to where we are: the host in the background is elsewhere.
    expect((await stage.run(["sessions", "--config", "other.json"], { cwd: stage.directory })).code).toBe(0);
    const now = await shown(stage, [], { MAX_IDLE_MS: "70000" });
    expect(now("MAX_IDLE_MS")).toMatchObject({ value: 70_000, host: 60_000 });
    expect(now("MAX_CLIENTS")).toMatchObject({ value: 256, host: 3 });
    expect(now("MAX_PLUGINS")).not.toHaveProperty("host");
    // The limit is a real one.
    for (const _ of [1, 2, 3]) await stage.standby();
    const { code, stderr } = await stage.run(["status"]);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("has no room for more clients") });
    const plain = await stage.run(["config"], { env: { MAX_IDLE_MS: "70000" } });
    expect(plain.stdout).toContain("The host here goes on with 60000 (1 m)");
  }),
  60_000,
);

test(
  "[CM6] [SE3] prune keeps as much as the file says, and its flag wins",
  staged(async (stage) => {
    await stage.run(["prompt", "demo", "hello", "--session", "work"]);
    await stage.run(["close", "work"]);
    expect((await stage.run(["prune"])).stdout).toStartWith("0 journals");
    writeConfig(stage, '{ "JOURNAL_MAX_BYTES": 0 }');
    expect((await stage.run(["prune", "--keep-mib", "1"])).stdout).toStartWith("0 journals");
    const conversations = () => readdirSync(join(String(stage.env["XDG_STATE_HOME"]), "holdfast", "demo-agent"));
    expect(conversations()).toHaveLength(1);
    expect((await stage.run(["prune"])).stdout).toStartWith("Removed work\n1 journals");
    // What the demo agent itself kept of it goes too.
    expect(conversations()).toEqual([]);
    await stage.run(["stop", "--agents"]);
  }),
  60_000,
);

test(
  "[CM3] [CM6] a wrong key, a wrong value, a missing --config and garbage in the environment are errors with exit code 2",
  staged(async (stage) => {
    const fails = async (says: string, words: string[] = [], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await stage.run(["config", ...words], { env });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(says);
    };
    await fails('The config file "/none.json" of --config is not there', ["--config", "/none.json"]);
    await fails('MAX_IDLE_MS in the environment is "5m"', [], { MAX_IDLE_MS: "5m" });
    const file = writeConfig(stage, '{\n  "agents": {},\n  "MAX_CLIENT": 5\n}');
    await fails(`"${file}" line 3: unknown key "MAX_CLIENT"`);
    writeConfig(stage, '{ "MAX_CLIENTS": 0 }');
    await fails(`"${file}" line 1: "MAX_CLIENTS" is wrong`);
  }),
  60_000,
);

test(
  "[CM6] [SC6] secrets are masked, in text and in JSON",
  staged(async (stage) => {
    writeConfig(stage, '{ "agents": { "mine": { "command": "m", "env": { "KEY": "s3cret-of-mine" } } } }');
    const env = { HOLDFAST_PLUGIN_TOKEN: "tok3n-of-mine" };
    for (const words of [["config"], ["config", "--json"]]) {
      const { stdout, stderr } = await stage.run(words, { env });
      expect(stdout).toContain("set, and not shown");
      expect(stdout + stderr).not.toMatch(/s3cret|tok3n/);
    }
  }),
  60_000,
);

test(
  "[CM6] config --schema is one JSON document that names each key",
  staged(async (stage) => {
    const [text, json] = [await stage.run(["config", "--schema"]), await stage.run(["config", "--schema", "--json"])];
    expect(JSON.parse(text.stdout)).toEqual(JSON.parse(json.stdout));
    expect(json.stdout.split("\n")).toHaveLength(2);
    const { properties, additionalProperties } = JSON.parse(json.stdout);
    expect(additionalProperties).toBe(false);
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(["$schema", "MAX_IDLE_MS", "agents"]));
  }),
  60_000,
);
