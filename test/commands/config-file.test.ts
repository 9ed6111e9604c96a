// Is a wrong config file an error that says where and what?
import { expect, test } from "bun:test";
import { allDefinitions, environmentFor } from "../../src/agents/definitions.ts";
import { readConfig } from "../../src/commands/config-file.ts";
import { ownSettings } from "../../src/commands/own-settings.ts";
import { configFile, createSystemWorld } from "../../src/platform/system.ts";
import { Fault } from "../../src/protocol/fault.ts";

const world = createSystemWorld({ info() {}, warn() {} });
const caught = (run: () => unknown): Fault => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("Nothing was thrown");
};

test("[CM6] the file lies in XDG_CONFIG_HOME, else in ~/.config", () => {
  expect(configFile({ XDG_CONFIG_HOME: "/x", HOME: "/h" })).toBe("/x/holdfast/config.json");
  expect(configFile({ HOME: "/h" })).toBe("/h/.config/holdfast/config.json");
});

test("[CM6] an unknown key is an error with file, line and key, exit code 2", () => {
  const fault = caught(() => readConfig("/c.json", '{\n  "agents": {},\n  "colour": 1\n}'));
  expect(fault.message).toBe('"/c.json" line 3: unknown key "colour"');
  expect(fault.exitCode).toBe(2);
  const deep = caught(() =>
    readConfig("/c.json", '{\n  "agents": {\n    "mine": { "command": "x",\n      "argz": [] } }\n}'),
  );
  expect(deep.message).toBe('"/c.json" line 4: unknown key "agents.mine.argz"');
});

test("[CM6] [ID6] a wrong value is named with its line, and so is broken JSON", () => {
  expect(caught(() => readConfig("/c.json", '{\n  "MAX_IDLE_MS": -5\n}')).message).toStartWith(
    '"/c.json" line 2: "MAX_IDLE_MS" is wrong',
  );
  const broken = caught(() => readConfig("/c.json", '{\n  "MAX_IDLE_MS": 5,\n  "agents": {},\n}'));
  expect(broken.message).toBe('"/c.json" line 3: column 15: invalid JSON: a comma stands before "}"');
});

test("[ID6] the config file has the same names, and the environment wins", () => {
  const config = readConfig("/c.json", '{ "MAX_IDLE_MS": 5, "IDLE_TIMEOUT_MS": 7 }');
  expect(ownSettings({ env: { MAX_IDLE_MS: "9" }, world, config }).idle).toMatchObject({
    maxIdleMs: 9,
    idleTimeoutMs: 7,
  });
});

test("[AM2] an agent of the config has its command, arguments, environment and name, and may replace a built-in", () => {
  const config = readConfig(
    "/c.json",
    JSON.stringify({
      agents: {
        mine: {
          command: "mine-acp",
          args: ["--x"],
          env: { MINE_MODE: "1" },
          environment: ["MINE_*"],
          displayName: "Mine",
        },
        codex: { command: "/opt/codex" },
      },
    }),
  );
  const all = allDefinitions(config.agents, []);
  expect(all.filter(({ name }) => name === "codex").map(({ commands }) => commands)).toEqual([
    [{ command: "/opt/codex", args: [] }],
  ]);
  const mine = all.find(({ name }) => name === "mine");
  if (!mine) throw new Error("It is not there");
  expect(mine.displayName).toBe("Mine");
  expect(mine.commands).toEqual([{ command: "mine-acp", args: ["--x"] }]);
  const env = environmentFor(mine, { MINE_KEY: "k", MINE_MODE: "0", PATH: "/bin", OTHER_SECRET: "s" });
  expect(env).toEqual({ MINE_KEY: "k", MINE_MODE: "1", PATH: "/bin" });
});

test("[AM2] a built-in agent may be given more without saying what to run; anybody else needs a command", () => {
  const config = readConfig(
    "/c.json",
    '{ "agents": { "codex": { "mcpServers": ["holdfast", { "name": "x", "command": "/x" }], "env": { "A": "1" } } } }',
  );
  const codex = allDefinitions(config.agents, []).find(({ name }) => name === "codex");
  expect(codex).toMatchObject({
    displayName: "Codex",
    commands: [{ command: "codex-acp", args: [] }],
    env: { A: "1" },
    maxPromptCharacters: 1_048_576,
    mcpServers: [{ name: "holdfast" }, { name: "x", command: "/x" }],
  });
  const fault = caught(() => readConfig("/c.json", '{\n  "agents": {\n    "mine": {} }\n}'));
  expect(fault.message).toBe(
    '"/c.json" line 3: "agents.mine.command" is wrong: it is missing, and no built-in agent has this name',
  );
});
