// With which settings does a host go on? A new reign has its own; a successor keeps its predecessor's.
import { DEFAULT_SETTINGS, type Settings } from "../protocol/settings.ts";

/** What the caller said itself, by flag or environment. */
export type OwnSettings = Partial<Settings>;

export interface Reign {
  settings: Settings;
  /** What the caller said and the predecessor's settings overrule. */
  conflicts: string[];
}

export function chooseSettings(own: OwnSettings, inherited: Settings | undefined): Reign {
  if (!inherited) return { settings: { ...DEFAULT_SETTINGS, ...own }, conflicts: [] };
  const differs = (key: keyof Settings) =>
    own[key] !== undefined && JSON.stringify(own[key]) !== JSON.stringify(inherited[key]);
  const conflicts = (Object.keys(DEFAULT_SETTINGS) as (keyof Settings)[]).filter(differs);
  return { settings: inherited, conflicts };
}
