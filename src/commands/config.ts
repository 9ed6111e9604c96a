// holdfast config: every setting, its value, where that comes from and why its default is what it is.
import { type Effective, effectiveSettings, type SettingValue } from "../core/effective.ts";
import { toggle } from "../surface/argument.ts";
import { portFrom } from "../surface/flags.ts";
import { PAGE_COLUMNS, wrap } from "../surface/layout.ts";
import { settingsHelp, spokenValue } from "../surface/settings-text.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { ownSettings, settingsOf } from "./own-settings.ts";

export const config = holdfastCommand({
  name: "config",
  args: { schema: toggle("Print the JSON Schema of the config file") },
  examples: [
    { line: "holdfast config", says: "Every setting, its value and where that comes from" },
    {
      line: "MAX_IDLE_MS=0 holdfast config --json",
      says: "The same for programs; here the environment says something",
    },
    { line: "holdfast config --schema", says: 'For editors, which find it by "$schema" in the file' },
  ],
  details:
    "A wrong file is an error with its line, exit code 2. A host keeps the settings it began with, and so does its successor; where they differ from these, it is said.",
  appendix: settingsHelp,
  async run(args, context) {
    const { printer } = context;
    if (args.schema) return await printSchema(context);
    const found = await look(context, args);
    printer.json({
      ...found,
      settings: found.settings.map(({ defaultValue, ...rest }) => ({ ...rest, default: defaultValue })),
    });
    show(context, found);
    return 0;
  },
});

async function printSchema({ printer }: Context): Promise<number> {
  const { configSchema } = await import("../protocol/config.ts");
  const schema = configSchema();
  printer.json(schema);
  printer.line(JSON.stringify(schema, null, 2));
  return 0;
}

interface Shown extends Effective {
  /** What the host on this port goes on with, where that differs. */
  host?: SettingValue;
}

interface Found {
  file: { path: string; exists: boolean };
  settings: Shown[];
}

async function look(context: Context, { port, config: flag }: { port: number; config?: string }): Promise<Found> {
  const { env, state } = context;
  const config = await context.config();
  // Garbage in the environment is an error here as it is for a host.
  ownSettings({ ...context, config });
  const { path, text } = context.configText();
  const kept = state.settings(port);
  const inUse = kept ? settingsOf(kept) : {};
  const settings = effectiveSettings({
    file: { path, text },
    env,
    flags: {
      ...(port === portFrom(env) ? {} : { port }),
      ...(flag === undefined ? {} : { configFile: path }),
    },
    places: { configFile: path, stateDirectory: state.directory },
  }).map((each): Shown => {
    const host = inUse[each.name];
    return host === undefined || host === each.value ? each : { ...each, host };
  });
  return { file: { path, exists: text !== undefined }, settings };
}

const SOURCES = { default: "dim", file: "cyan", environment: "yellow", flag: "yellow" } as const;

function show({ printer }: Context, { file, settings }: Found): void {
  const { paint, safe } = printer;
  printer.line(`Config file ${safe(file.path)}${file.exists ? "" : ": there is none, and none is needed"}`);
  const wide = Math.max(...settings.map(({ name }) => name.length));
  const indent = " ".repeat(wide + 2);
  for (const { name, value, source, where, defaultValue, reason, host } of settings) {
    const said = where === null ? "default" : `from ${where}, default ${spokenValue(name, defaultValue)}`;
    const now = safe(spokenValue(name, value ?? defaultValue));
    printer.line(`${paint.bold(name.padEnd(wide))}  ${now}  ${paint[SOURCES[source]](safe(said))}`);
    for (const line of wrap(reason, PAGE_COLUMNS - indent.length)) printer.line(`${indent}${paint.dim(line)}`);
    if (host === undefined) continue;
    printer.line(indent + paint.yellow(`The host here goes on with ${spokenValue(name, host)}`));
  }
}
