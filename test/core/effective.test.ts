// Is the value the one that wins, and is its source named?
import { expect, test } from "bun:test";
import { effectiveSettings, type Said } from "../../src/core/effective.ts";
import type { TunableName } from "../../src/protocol/tunables.ts";

const FILE = '{\n  "agents": { "mine": { "command": "m", "env": { "KEY": "s3cret" } } },\n  "MAX_IDLE_MS": 5\n}';
const said = (more: Partial<Said> = {}): Said => ({
  file: { path: "/c.json", text: undefined },
  env: {},
  flags: {},
  places: {},
  ...more,
});
const one = (name: TunableName, more: Partial<Said> = {}) =>
  effectiveSettings(said(more)).find((each) => each.name === name);

test("[CM6] default < file < environment < flag, and each value tells where it comes from", () => {
  const file = { path: "/c.json", text: FILE };
  const env = { MAX_IDLE_MS: "7" };
  expect(one("MAX_IDLE_MS")).toMatchObject({ value: 1_800_000, source: "default", where: null });
  expect(one("MAX_IDLE_MS", { file })).toMatchObject({ value: 5, source: "file", where: "/c.json line 3" });
  expect(one("MAX_IDLE_MS", { file, env })).toMatchObject({ value: 7, source: "environment", where: "MAX_IDLE_MS" });
  const flags = { MAX_IDLE_MS: 9 };
  expect(one("MAX_IDLE_MS", { file, env, flags })).toMatchObject({ value: 9, source: "flag" });
  expect(one("port", { env: { HOLDFAST_PORT: "5" } })).toMatchObject({ value: 5, source: "environment" });
  expect(one("port", { env: { HOLDFAST_PORT: "5" }, flags: { port: 6 } })).toMatchObject({ value: 6, where: "--port" });
});

test("[CM6] an empty variable says nothing, and a 0 in the file says 0", () => {
  expect(one("port", { env: { HOLDFAST_PORT: "" } })).toMatchObject({ source: "default" });
  const file = { path: "/c.json", text: '{ "MAX_IDLE_MS": 0 }' };
  expect(one("MAX_IDLE_MS", { file })).toMatchObject({ value: 0, source: "file" });
});

test("[CM6] [SC6] secrets are masked: the plugin token, and whatever an agent gets in its environment", () => {
  const env = { HOLDFAST_PLUGIN_TOKEN: "tok3n-of-mine" };
  const all = effectiveSettings(said({ env, file: { path: "/c.json", text: FILE } }));
  const text = JSON.stringify(all);
  expect(text).not.toContain("tok3n");
  expect(text).not.toContain("s3cret");
  expect(all.find(({ name }) => name === "pluginToken")).toMatchObject({ value: "set, and not shown" });
  expect(all.find(({ name }) => name === "agents")).toMatchObject({ value: ["mine"], where: "/c.json line 2" });
});

test("[CM6] [SC6] of a browser's address only the host is shown: the rest may be a key", () => {
  const env = { HOLDFAST_CDP_ENDPOINTS: "wss://me:pw@a.example/x?token=s3cret, http://127.0.0.1:9222" };
  expect(one("cdpEndpoints", { env })).toMatchObject({ value: ["wss://a.example/…", "http://127.0.0.1:9222"] });
  const file = { path: "/c.json", text: '{ "cdpEndpoints": ["wss://a.example?token=s3cret", "http://u:s3cret@b:1"] }' };
  expect(JSON.stringify(one("cdpEndpoints", { file }))).not.toContain("s3cret");
});

test("a place that the environment only leads to is shown as the place", () => {
  const env = { XDG_STATE_HOME: "/x" };
  const found = one("stateDirectory", { env, places: { stateDirectory: "/x/holdfast" } });
  expect(found).toMatchObject({ value: "/x/holdfast", source: "environment", where: "XDG_STATE_HOME" });
});
