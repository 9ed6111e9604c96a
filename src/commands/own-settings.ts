// What did the caller say himself of a host's settings? Flags win over the environment, that over the config file.
import type { OwnSettings } from "../core/reign.ts";
import type { Config } from "../protocol/config.ts";
import { Fault } from "../protocol/fault.ts";
import { type Auth, DEFAULT_SETTINGS, type IdleLimits } from "../protocol/settings.ts";
import type { Env } from "../surface/flags.ts";
import type { Context } from "./context.ts";

const IDLE_VARIABLES = {
  idleTimeoutMs: "IDLE_TIMEOUT_MS",
  maxIdleMs: "MAX_IDLE_MS",
  staleOutputMs: "STALE_OUTPUT_MS",
} as const satisfies Record<keyof IdleLimits, string>;

function idleFrom(env: Env, config: Config): IdleLimits | undefined {
  const said = Object.entries(IDLE_VARIABLES).flatMap(([key, variable]) => {
    const value = env[variable] ?? config[variable]?.toString();
    if (value === undefined) return [];
    if (!/^\d{1,15}$/.test(value)) {
      const message = `${variable} in the environment is "${value}"; give a whole number of milliseconds, 0 or more`;
      throw new Fault("USAGE", message, { variable, value });
    }
    return [[key, Number(value)]];
  });
  return said.length > 0 ? { ...DEFAULT_SETTINGS.idle, ...Object.fromEntries(said) } : undefined;
}

interface Flags {
  auth?: Auth | undefined;
  pluginToken?: true | string | undefined;
}

const TOKEN_BYTES = 8;

type Said = Pick<Context, "env" | "world"> & { config: Config };

export function ownSettings({ env, world, config }: Said, flags: Flags = {}): OwnSettings {
  const idle = idleFrom(env, config);
  // In the environment a secret is not seen by `ps`.
  const pluginToken =
    flags.pluginToken === true ? (env["HOLDFAST_PLUGIN_TOKEN"] ?? world.secrets.nonce()) : flags.pluginToken;
  if (pluginToken !== undefined && pluginToken.length < TOKEN_BYTES) {
    throw new Fault("USAGE", `Flag --plugin-token is too short; give at least ${TOKEN_BYTES} characters`);
  }
  return {
    ...(flags.auth ? { auth: flags.auth } : {}),
    ...(pluginToken === undefined ? {} : { pluginToken }),
    ...(idle ? { idle } : {}),
  };
}
