// Which mode and options does a session have? What the agent told of them last; after a restore they are set again.
import { messageOf } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";

type Fields = Record<string, unknown>;
type Value = string | boolean;

export interface SessionSettings {
  modeId: string | undefined;
  options: ReadonlyMap<string, Value>;
  /** Any update; most say nothing of settings. */
  notice(update: Fields): void;
}

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

const valuesOf = (configOptions: unknown): Map<string, Value> => {
  const list = Array.isArray(configOptions) ? configOptions.map(fieldsOf) : [];
  const isValue = (value: unknown): value is Value => typeof value === "string" || typeof value === "boolean";
  return new Map(list.flatMap(({ id, currentValue }) => (isValue(currentValue) ? [[String(id), currentValue]] : [])));
};

export function createSessionSettings(): SessionSettings {
  const settings: SessionSettings = {
    modeId: undefined,
    options: new Map(),
    notice({ sessionUpdate, currentModeId, modeId = currentModeId, configOptions }) {
      if (sessionUpdate === "current_mode_update" && typeof modeId === "string") settings.modeId = modeId;
      if (sessionUpdate === "config_option_update") settings.options = valuesOf(configOptions);
    },
  };
  return settings;
}

/** `restored` is the agent's answer; what it does not speak of is set too. Returns what could not be set, and why. */
export async function setAgain(
  client: AcpClient,
  sessionId: string,
  { modeId, options }: SessionSettings,
  restored: unknown,
): Promise<string[]> {
  const { modes, configOptions } = fieldsOf(restored);
  const now = valuesOf(configOptions);
  const failures: string[] = [];
  const set = async (what: string, work: Promise<unknown>): Promise<void> => {
    await work.catch((thrown) => failures.push(`${what}: ${messageOf(thrown)}`));
  };
  if (modeId !== undefined && fieldsOf(modes)["currentModeId"] !== modeId) {
    await set(`mode "${modeId}"`, client.setMode(sessionId, modeId));
  }
  for (const [id, value] of options) {
    const isThere = configOptions === undefined || now.has(id);
    if (isThere && now.get(id) !== value) await set(`option "${id}"`, client.setConfigOption(sessionId, id, value));
  }
  return failures;
}
