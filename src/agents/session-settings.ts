// Which mode and options does a session have? What the agent told of them last; after a restore they are set again.
import type { SessionFold } from "../core/session-fold.ts";
import { optionsIn, settingsIn } from "../core/told-settings.ts";
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

export function createSessionSettings(
  known: Pick<SessionFold, "modeId" | "options"> = { options: [] },
): SessionSettings {
  const settings: SessionSettings = {
    modeId: known.modeId,
    options: new Map(known.options),
    notice(update) {
      const { modeId, options } = settingsIn(update);
      if (modeId !== undefined) settings.modeId = modeId;
      if (options) settings.options = new Map(options);
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
  const now = new Map(optionsIn(configOptions));
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
