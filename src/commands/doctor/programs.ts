// Which agents and which browser are on this machine? What is missing is no problem: most people use one of them.
import { type AgentDefinition, allDefinitions, environmentFor } from "../../agents/definitions.ts";
import type { Checkup } from "../../platform/checkup.ts";
import type { Config } from "../../protocol/config.ts";
import type { Env } from "../../surface/flags.ts";
import { type Finding, ok, warning } from "./finding.ts";

const VERSION_MS = 3_000;

async function checkAgent(checkup: Checkup, definition: AgentDefinition, env: Env): Promise<Finding> {
  const { name, displayName, commands, install } = definition;
  const own = environmentFor(definition, env);
  const path = commands
    .map(({ command }) => checkup.findCommand(command, own["PATH"] ?? ""))
    .find((found) => found !== undefined);
  if (path === undefined) return ok("agents", `${name} (${displayName}) is not installed`, `to use it: ${install}`);
  const version = await checkup.versionOf(path, own, VERSION_MS);
  const told = version ?? `its version is not told within ${VERSION_MS / 1000} s`;
  return ok("agents", `${name} (${displayName}) is ${path}, ${told}`);
}

export const checkAgents = async (checkup: Checkup, config: Pick<Config, "agents">, env: Env): Promise<Finding[]> => [
  ok("agents", "demo (Demo) is part of holdfast, and needs no account"),
  ...(await Promise.all(allDefinitions(config.agents, []).map((definition) => checkAgent(checkup, definition, env)))),
];

const INSTALL: Readonly<Record<string, string>> = {
  linux: "apt install chromium, or your system's package of that name",
  darwin: "brew install --cask chromium, or install Google Chrome",
  win32: "winget install Google.Chrome",
};

export async function checkBrowser(checkup: Checkup, env: Env): Promise<Finding[]> {
  const path = checkup.findBrowser(env);
  if (path === undefined) {
    const hint = INSTALL[checkup.platform] ?? "install Chromium or Google Chrome";
    return [warning("browser", "No Chromium and no Chrome was found; web tasks need one, or --cdp", hint)];
  }
  const plain = Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined);
  // On Windows this would open a window.
  const version =
    checkup.platform === "win32" ? "" : await checkup.versionOf(path, Object.fromEntries(plain), VERSION_MS);
  return [ok("browser", `${path}${version ? `, ${version}` : ""}`)];
}
