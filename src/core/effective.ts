// Which value does each setting have, and who said so? Default, file, environment, flag: the later one wins.
import { setBy, TUNABLES, type Tunable, type TunableName, tunables } from "../protocol/tunables.ts";
import { lineOf } from "./json-line.ts";

export type SettingValue = number | string | readonly string[] | null;

export interface Said {
  /** The config file's text; undefined when it is not there. */
  file: { path: string; text: string | undefined };
  env: Readonly<Record<string, string | undefined>>;
  /** What flags of this very command said. */
  flags: Partial<Record<TunableName, SettingValue>>;
  /** Where the environment only leads to the value, as XDG_STATE_HOME does. */
  places: Partial<Record<TunableName, string>>;
}

export interface Effective {
  name: TunableName;
  value: SettingValue;
  defaultValue: SettingValue;
  source: "default" | "file" | "environment" | "flag";
  /** The line of the file, the variable or the flag. */
  where: string | null;
  /** By which it can be set, the last one over all. */
  setBy: string[];
  reason: string;
}

const HIDDEN = "set, and not shown";

/** What stands around the host may be a key of somebody's service. */
function bareUrl(url: string): string {
  const [, scheme, host, rest] = /^([a-z]+:\/\/)(?:[^/?#]*@)?([^/?#@]+)(.*)$/i.exec(url) ?? [];
  return host === undefined ? HIDDEN : `${scheme}${host}${(rest ?? "").length > 1 ? "/…" : ""}`;
}

function typed(kind: Tunable["kind"], value: string): SettingValue {
  if (kind === "number") return Number(value);
  return kind === "urls" ? value.split(",").map((url) => bareUrl(url.trim())) : value;
}

function inFile({ kind }: Tunable, name: string, { path, text = "{}" }: Said["file"]) {
  const found = (JSON.parse(text) as Record<string, SettingValue | object>)[name];
  if (found === undefined) return undefined;
  // Of agents only the names: their variables may be secrets.
  const shown = { agents: () => Object.keys(found as object), urls: () => (found as string[]).map(bareUrl) };
  const value = kind === "agents" || kind === "urls" ? shown[kind]() : (found as SettingValue);
  return { value, source: "file" as const, where: `${path} line ${lineOf(text, [name])}` };
}

export function effectiveSettings(said: Said): Effective[] {
  return tunables().map(([name, tunable]) => {
    const { kind, environment, flag, file, defaultValue, reason } = tunable;
    const byFlag = said.flags[name];
    const byEnvironment = environment === undefined ? undefined : said.env[environment];
    const byDefault = { value: defaultValue, source: "default" as const, where: null };
    const found =
      byFlag !== undefined
        ? { value: byFlag, source: "flag" as const, where: flag ?? null }
        : byEnvironment
          ? { value: typed(kind, byEnvironment), source: "environment" as const, where: environment ?? null }
          : ((file && inFile(tunable, name, said.file)) ?? byDefault);
    const value = kind === "secret" && found.value !== null ? HIDDEN : (said.places[name] ?? found.value);
    return { name, ...found, value, defaultValue: shownDefault(name), setBy: setBy(name), reason };
  });
}

export const shownDefault = (name: TunableName): number | string | null => {
  const { defaultSays, defaultValue }: Tunable = TUNABLES[name];
  return defaultSays ?? defaultValue;
};
