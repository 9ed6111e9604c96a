// What did the caller say himself of a host's settings? Flags win over the environment, that over the config file.
import type { OwnSettings } from "../core/reign.ts";
import type { Config } from "../protocol/config.ts";
import { Fault } from "../protocol/fault.ts";
import { type Auth, DEFAULT_SETTINGS, type IdleLimits, type Limits, type Settings } from "../protocol/settings.ts";
import { type FileNumber, TUNABLES, type Tunable, type TunableName } from "../protocol/tunables.ts";
import type { Env } from "../surface/flags.ts";
import type { Context } from "./context.ts";

const IDLE = {
  idleTimeoutMs: "IDLE_TIMEOUT_MS",
  maxIdleMs: "MAX_IDLE_MS",
  staleOutputMs: "STALE_OUTPUT_MS",
} as const satisfies Record<keyof IdleLimits, FileNumber>;

const LIMITS = {
  clients: "MAX_CLIENTS",
  plugins: "MAX_PLUGINS",
  requestsPerSession: "MAX_REQUESTS",
} as const satisfies Partial<Record<keyof Limits, FileNumber>>;

function numberFrom(name: FileNumber, env: Env, config: Config): number | undefined {
  const { environment }: Tunable = TUNABLES[name];
  const value = environment === undefined ? undefined : env[environment];
  if (value === undefined) return config[name];
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const message = `${environment} in the environment is "${value}"; give a whole number of milliseconds, 0 or more`;
  throw new Fault("USAGE", message, { variable: environment, value });
}

/** Undefined when nothing is said: a successor then has nothing to disagree with. */
function numbersFrom<Numbers extends object>(
  names: Partial<Record<keyof Numbers, FileNumber>>,
  defaults: Numbers,
  env: Env,
  config: Config,
): Numbers | undefined {
  const said = Object.entries<FileNumber | undefined>(names).flatMap(([key, name]) => {
    const value = name && numberFrom(name, env, config);
    return value === undefined ? [] : [[key, value]];
  });
  return said.length > 0 ? { ...defaults, ...Object.fromEntries(said) } : undefined;
}

interface Flags {
  auth?: Auth | undefined;
  pluginToken?: true | string | undefined;
}

const TOKEN_BYTES = 8;

type Said = Pick<Context, "env" | "world"> & { config: Config };

export function ownSettings({ env, world, config }: Said, flags: Flags = {}): OwnSettings {
  const idle = numbersFrom(IDLE, DEFAULT_SETTINGS.idle, env, config);
  const limits = numbersFrom(LIMITS, DEFAULT_SETTINGS.limits, env, config);
  // In the environment a secret is not seen by `ps`.
  const pluginToken =
    flags.pluginToken === true ? (env["HOLDFAST_PLUGIN_TOKEN"] ?? world.secrets.nonce()) : flags.pluginToken;
  if (pluginToken !== undefined && pluginToken.length < TOKEN_BYTES) {
    throw new Fault("USAGE", `Flag --plugin-token is too short; give at least ${TOKEN_BYTES} characters`);
  }
  return {
    ...(flags.auth ? { auth: flags.auth } : {}),
    ...(pluginToken === undefined ? {} : { pluginToken }),
    ...(limits ? { limits } : {}),
    ...(idle ? { idle } : {}),
  };
}

/** What a host's settings are called in the table. */
export function settingsOf({
  auth,
  pluginToken,
  idle,
  limits,
}: Settings): Partial<Record<TunableName, number | string>> {
  const named = <Numbers extends object>(names: Partial<Record<keyof Numbers, FileNumber>>, numbers: Numbers) =>
    Object.entries<FileNumber | undefined>(names).flatMap(([key, name]) =>
      name ? [[name, (numbers as Record<string, number>)[key]]] : [],
    );
  return {
    auth,
    ...(pluginToken === null ? {} : { pluginToken: "set, and not shown" }),
    ...Object.fromEntries([...named(IDLE, idle), ...named(LIMITS, limits)]),
  };
}
