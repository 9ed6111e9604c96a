// How is the table of settings told to people? As a page of help, and as the table in the README.
import { setBy, TUNABLES, type Tunable, type TunableName, tunables } from "../protocol/tunables.ts";
import { pairs } from "./layout.ts";
import { formatDuration } from "./text.ts";

/** 300000 says little: 5 minutes does. */
export function spokenValue(name: TunableName, value: unknown): string {
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (typeof value !== "number") return String(value ?? "none");
  if (name.endsWith("_BYTES")) return `${value} (${Math.floor(value / 1024 / 1024)} MiB)`;
  return name.endsWith("_MS") ? `${value} (${formatDuration(value)})` : String(value);
}

const spokenDefault = (name: TunableName): string => {
  const { defaultSays, defaultValue }: Tunable = TUNABLES[name];
  return defaultSays ?? spokenValue(name, defaultValue);
};

export const settingsHelp = (): string[] => [
  "Settings, each with its default; set by, the last one over all:",
  ...pairs(
    tunables().map(([name, { reason }]) => [
      name,
      `${spokenDefault(name)}; set by ${setBy(name).join(", ")}\n${reason}`,
    ]),
  ),
];

export const settingsMarkdown = (): string =>
  [
    "| setting | default | set by | why |",
    "|---|---|---|---|",
    ...tunables().map(([name, { reason }]) => {
      const by = setBy(name).map((each) => (each.startsWith("the ") ? each : `\`${each}\``));
      return `| \`${name}\` | ${spokenDefault(name)} | ${by.join(", ")} | ${reason} |`;
    }),
  ].join("\n");
