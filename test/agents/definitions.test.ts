// Which agents are there, and what do they get? The table of built-ins, those of the config, and nothing of the host's own.
import { describe, expect, test } from "bun:test";
import { type AgentDefinition, allDefinitions, BUILT_IN, environmentFor } from "../../src/agents/definitions.ts";
import { AgentConfig } from "../../src/protocol/config.ts";

const definitionOf = (name: string) => {
  const found = BUILT_IN.find((each) => each.name === name);
  if (!found) throw new Error(`There is no "${name}"`);
  return found;
};

const CLAUDE = definitionOf("claude-code");

describe("definitions", () => {
  test("[AM2] the built-ins run these commands, in this order", () => {
    const lines = BUILT_IN.map(({ name, displayName, commands }) => [
      name,
      displayName,
      ...commands.map(({ command, args }) => [command, ...args].join(" ")),
    ]);
    expect(lines).toEqual([
      ["claude-code", "Claude Code", "claude-code-acp", "claude-agent-acp"],
      ["codex", "Codex", "codex-acp"],
      ["gemini", "Gemini", "gemini --acp"],
      ["opencode", "opencode", "opencode acp"],
    ]);
    for (const { install } of BUILT_IN) expect(install).toStartWith("npm install -g ");
  });

  test("[AM2] more come from the config, with command, args, env and a name to show; one may replace a built-in", () => {
    const mine = AgentConfig.parse({ command: "my-agent", args: ["--acp"], env: { MODE: "x" }, displayName: "Mine" });
    const plain = AgentConfig.parse({ command: "/opt/codex" });
    const all = allDefinitions({ mine, codex: plain }, []);
    expect(all.map(({ name }) => name)).toEqual(["claude-code", "gemini", "opencode", "mine", "codex"]);
    expect(all[3]).toMatchObject({
      displayName: "Mine",
      commands: [{ command: "my-agent", args: ["--acp"] }],
      env: { MODE: "x" },
    });
    expect(all[4]).toMatchObject({ displayName: "codex", commands: [{ command: "/opt/codex", args: [] }] });
  });
});

describe("the environment", () => {
  const HOST = {
    PATH: "/bin",
    HOME: "/home/me",
    USER: "me",
    SHELL: "/bin/sh",
    LANG: "de_DE",
    LC_ALL: "C",
    TMPDIR: "/tmp",
    XDG_STATE_HOME: "/x",
    https_proxy: "http://p",
    NO_PROXY: "*",
    ANTHROPIC_API_KEY: "sk-a",
    CLAUDE_CONFIG_DIR: "/c",
    OPENAI_API_KEY: "sk-o",
    HOLDFAST_TOKEN: "t",
    AWSX: "no",
    HOMEBREW_TOKEN: "not the home",
    PATHS: "not the path",
    LD_PRELOAD: "evil.so",
    NODE_OPTIONS: "--require evil",
    GONE: undefined,
  };

  test("[AM10] is what the definition lists and the vendor's own variables, and nothing else of whoever asks", () => {
    expect(Object.keys(environmentFor(CLAUDE, HOST)).sort()).toEqual(
      [
        "ANTHROPIC_API_KEY",
        "CLAUDE_CONFIG_DIR",
        "HOME",
        "LANG",
        "LC_ALL",
        "NO_PROXY",
        "PATH",
        "SHELL",
        "TMPDIR",
        "USER",
        "XDG_STATE_HOME",
        "https_proxy",
      ].sort(),
    );
    const codex = environmentFor(definitionOf("codex"), HOST);
    expect([codex["OPENAI_API_KEY"], codex["ANTHROPIC_API_KEY"]]).toEqual(["sk-o", undefined]);
  });

  test("[AM10] what the config sets is set, whatever anybody's environment says", () => {
    const config = AgentConfig.parse({ command: "x", env: { LANG: "C", OWN: "1" }, environment: ["AWS*"] });
    const env = environmentFor(allDefinitions({ mine: config }, []).at(-1) as AgentDefinition, HOST);
    expect([env["LANG"], env["OWN"], env["AWSX"], env["OPENAI_API_KEY"]]).toEqual(["C", "1", "no", undefined]);
  });
});
