// What does an agent say of a session's mode and options? In its updates, and in its answers.

type Data = Record<string, unknown>;

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null;

/** What an update says of a session's mode and options. */
export function settingsIn(update: Data): { modeId?: string; options?: [string, string | boolean][] } {
  const { sessionUpdate, currentModeId, modeId = currentModeId, configOptions } = update;
  if (sessionUpdate === "current_mode_update" && typeof modeId === "string") return { modeId };
  if (sessionUpdate !== "config_option_update") return {};
  return { options: optionsIn(configOptions) };
}

export const optionsIn = (configOptions: unknown): [string, string | boolean][] =>
  (Array.isArray(configOptions) ? configOptions : []).filter(isData).flatMap(({ id, currentValue }) => {
    const isValue = typeof currentValue === "string" || typeof currentValue === "boolean";
    return isValue ? [[String(id), currentValue] as [string, string | boolean]] : [];
  });
