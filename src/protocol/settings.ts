// With which numbers and doors does a host run? Kept per port, so that a successor goes on as its predecessor did.
import { isOneOf, isRecord, nullable, wholeFrom } from "./guards.ts";
import { TUNABLES } from "./tunables.ts";

export const AUTHS = ["token", "none"] as const;
export type Auth = (typeof AUTHS)[number];

export interface Limits {
  frameBytes: number;
  waitingBytes: number;
  requestsPerSession: number;
  clients: number;
  plugins: number;
}

export interface IdleLimits {
  idleTimeoutMs: number;
  maxIdleMs: number;
  staleOutputMs: number;
}

export interface Settings {
  auth: Auth;
  pluginToken: string | null;
  limits: Limits;
  idle: IdleLimits;
}

export const DEFAULT_SETTINGS: Settings = {
  auth: TUNABLES.auth.defaultValue,
  pluginToken: null,
  limits: {
    frameBytes: 16 * 1024 * 1024,
    waitingBytes: 32 * 1024 * 1024,
    requestsPerSession: TUNABLES.MAX_REQUESTS.defaultValue,
    clients: TUNABLES.MAX_CLIENTS.defaultValue,
    plugins: TUNABLES.MAX_PLUGINS.defaultValue,
  },
  idle: {
    idleTimeoutMs: TUNABLES.IDLE_TIMEOUT_MS.defaultValue,
    maxIdleMs: TUNABLES.MAX_IDLE_MS.defaultValue,
    staleOutputMs: TUNABLES.STALE_OUTPUT_MS.defaultValue,
  },
};

/** Less room on the disk than this, and a turn could be torn in the middle. */
export const DISK_FLOOR_BYTES = 16 * 1024 * 1024;

const LEAST_TOKEN = 8;
const isToken = (value: unknown): value is string => typeof value === "string" && value.length >= LEAST_TOKEN;

function part<Numbers extends { [Key in keyof Numbers]: number }>(
  value: unknown,
  name: string,
  defaults: Numbers,
  least: number,
): Numbers {
  const said = value === undefined ? {} : value;
  if (!isRecord(said)) throw new TypeError(`"${name}" is no object`);
  const fits = wholeFrom(least);
  const entries = Object.entries(defaults).map(([key, usual]) => {
    const number = said[key] === undefined ? usual : said[key];
    if (!fits(number)) throw new TypeError(`"${name}.${key}" is no whole number from ${least} up`);
    return [key, number];
  });
  return Object.fromEntries(entries);
}

/** What a file says, with the defaults for what it leaves out; throws on anything wrong in it. */
export function settingsFrom(value: unknown): Settings {
  if (!isRecord(value)) throw new TypeError("Settings are an object");
  const { auth = DEFAULT_SETTINGS.auth, pluginToken = DEFAULT_SETTINGS.pluginToken } = value;
  if (!isOneOf(...AUTHS)(auth)) throw new TypeError('"auth" is neither "token" nor "none"');
  if (!nullable(isToken)(pluginToken)) throw new TypeError('"pluginToken" is no token');
  return {
    auth,
    pluginToken,
    limits: part(value["limits"], "limits", DEFAULT_SETTINGS.limits, 1),
    idle: part(value["idle"], "idle", DEFAULT_SETTINGS.idle, 0),
  };
}
