// What can be tuned, from where, and why is its default what it is? One table: checks, `config`, help and README read it.
import { DEFAULT_PORT } from "./version.ts";

export interface Tunable {
  /** Numbers are whole, from `least` up. */
  kind: "number" | "word" | "path" | "secret" | "agents" | "urls";
  defaultValue: number | string | null;
  /** Where null or a path would not tell. */
  defaultSays?: string;
  least?: number;
  /** It may stand in the config file, under its own name. */
  file?: true;
  environment?: string;
  flag?: string;
  reason: string;
}

const MINUTE_MS = 60_000;

export const TUNABLES = {
  port: {
    kind: "number",
    defaultValue: DEFAULT_PORT,
    least: 0,
    environment: "HOLDFAST_PORT",
    flag: "--port",
    reason: "Whoever holds it is the host, so all must agree on it; studio-bridge plugins look here",
  },
  configFile: {
    kind: "path",
    defaultValue: null,
    defaultSays: "~/.config/holdfast/config.json",
    environment: "XDG_CONFIG_HOME",
    flag: "--config",
    reason: "Where other programs keep theirs",
  },
  stateDirectory: {
    kind: "path",
    defaultValue: null,
    defaultSays: "~/.local/state/holdfast",
    environment: "XDG_STATE_HOME",
    reason: "Token, journals, logs and keepers: it lives on after a reboot, and nobody else may read it",
  },
  auth: {
    kind: "word",
    defaultValue: "token",
    flag: "serve --auth",
    reason: "Other users of the machine reach the port too; only who can read your token is a client",
  },
  pluginToken: {
    kind: "secret",
    defaultValue: null,
    defaultSays: "none",
    environment: "HOLDFAST_PLUGIN_TOKEN",
    flag: "serve --plugin-token",
    reason: "Plugins of other programs cannot read files of yours, so they may connect without one",
  },
  IDLE_TIMEOUT_MS: {
    kind: "number",
    defaultValue: 5 * MINUTE_MS,
    least: 0,
    file: true,
    environment: "IDLE_TIMEOUT_MS",
    reason: "So long a session nobody watches may be idle: a coffee, not a lunch",
  },
  MAX_IDLE_MS: {
    kind: "number",
    defaultValue: 30 * MINUTE_MS,
    least: 0,
    file: true,
    environment: "MAX_IDLE_MS",
    reason:
      "The cap whatever guards say, since a guard may be wrong; also how long agents stay without a host. 0: no cap",
  },
  STALE_OUTPUT_MS: {
    kind: "number",
    defaultValue: 10 * MINUTE_MS,
    least: 0,
    file: true,
    environment: "STALE_OUTPUT_MS",
    reason: "A turn that said nothing for so long is no longer taken for work; slow tools are quiet for minutes",
  },
  MAX_CLIENTS: {
    kind: "number",
    defaultValue: 256,
    least: 1,
    file: true,
    reason: "More than people start, fewer than a loop gone wild",
  },
  MAX_PLUGINS: {
    kind: "number",
    defaultValue: 256,
    least: 1,
    file: true,
    reason: "Any local process may be a plugin: without a limit one could fill the host's memory",
  },
  MAX_REQUESTS: {
    kind: "number",
    defaultValue: 64,
    least: 1,
    file: true,
    reason: "At once to one plugin; who sends more is told to wait instead of filling a queue",
  },
  JOURNAL_MAX_AGE_MS: {
    kind: "number",
    defaultValue: 30 * 24 * 60 * MINUTE_MS,
    least: 0,
    file: true,
    flag: "prune --older-than",
    reason:
      "Journals nobody touched for so long are removed, when a host starts and once a day; a month is looked back at",
  },
  JOURNAL_MAX_BYTES: {
    kind: "number",
    defaultValue: 1024 ** 3,
    least: 0,
    file: true,
    flag: "prune --keep-mib",
    reason: "Then the oldest ones go until all together are no more than this; sessions in use always stay",
  },
  cdpEndpoints: {
    kind: "urls",
    defaultValue: null,
    defaultSays: "a Chromium of our own",
    file: true,
    environment: "HOLDFAST_CDP_ENDPOINTS",
    flag: "browse --cdp",
    reason: "Browsers for web tasks, in the order they are tried; one on this machine needs no account",
  },
  chromium: {
    kind: "path",
    defaultValue: null,
    defaultSays: "the first one found",
    environment: "HOLDFAST_CHROMIUM",
    reason: "On PATH under its usual names, else where installers put it",
  },
  apiKey: {
    kind: "secret",
    defaultValue: null,
    defaultSays: "OPENAI_API_KEY, else none",
    environment: "HOLDFAST_API_KEY",
    reason: "For browse --model only; in the environment, where ps does not show it",
  },
  agents: {
    kind: "agents",
    defaultValue: null,
    defaultSays: "the built-in ones",
    file: true,
    reason: "Only commands named here or built in ever run, never one from the wire",
  },
} as const satisfies Readonly<Record<string, Tunable>>;

export type TunableName = keyof typeof TUNABLES;

/** Numbers of the config file, by their key. */
export type FileNumber = {
  [Name in TunableName]: (typeof TUNABLES)[Name] extends { kind: "number"; file: true } ? Name : never;
}[TunableName];

export const tunables = (): [TunableName, Tunable][] => Object.entries(TUNABLES) as [TunableName, Tunable][];

export const FILE_NUMBERS = tunables().flatMap(([name, { kind, file }]) =>
  kind === "number" && file ? [name as FileNumber] : [],
);

/** In the order in which they win, the last one over all. */
export const setBy = (name: TunableName): string[] => {
  const { file, environment, flag }: Tunable = TUNABLES[name];
  return [file ? "the config file" : undefined, environment, flag].filter((each) => each !== undefined);
};
