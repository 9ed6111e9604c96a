// What is the real world made of?
import { join } from "node:path";
import { Fault } from "../protocol/fault.ts";
import { systemClock } from "./clock.ts";
import { connect, probe } from "./dial.ts";
import { systemFiles } from "./files.ts";
import { bind } from "./listen.ts";
import { portOwner } from "./port-owner.ts";
import { systemSecrets } from "./secrets.ts";
import type { Log, World } from "./world.ts";

/** Without them there are no keepers: an agent is its host's child, and ends with it. */
export const hasFifos = process.platform !== "win32";

const BUGS = ["uncaughtException", "unhandledRejection"] as const;

export const createSystemWorld = (log: Log): World => ({
  clock: systemClock,
  random: Math.random,
  newId: () => crypto.randomUUID(),
  pid: process.pid,
  net: { bind, connect, probe, owner: portOwner },
  files: systemFiles,
  secrets: systemSecrets,
  log,
  onBug(tell) {
    for (const event of BUGS) process.on(event, tell);
    return () => {
      for (const event of BUGS) process.off(event, tell);
    };
  },
});

export type Env = Readonly<Record<string, string | undefined>>;

const homeOf = (env: Env): string => env["HOME"] || process.getBuiltinModule("node:os").homedir();

/** `$XDG_CONFIG_HOME/holdfast/config.json`, else in `~/.config`. */
export const configFile = (env: Env): string =>
  join(env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config"), "holdfast", "config.json");

/** `$XDG_STATE_HOME/holdfast`, else `~/.local/state/holdfast`. */
export function stateDirectory(env: Env): string {
  const base = env["XDG_STATE_HOME"];
  if (base?.startsWith("/")) return join(base, "holdfast");
  if (base) {
    throw new Fault("USAGE", `XDG_STATE_HOME is "${base}"; it must be an absolute path`, {
      variable: "XDG_STATE_HOME",
    });
  }
  const home = homeOf(env);
  if (!home) throw new Fault("USAGE", "Neither XDG_STATE_HOME nor HOME is set; set one to a directory of yours");
  return join(home, ".local", "state", "holdfast");
}
