// Is the one table of settings the only one? The schema, the settings of a host and the README must agree with it.
import { expect, test } from "bun:test";
import { ownSettings, settingsOf } from "../../src/commands/own-settings.ts";
import { Config, configSchema } from "../../src/protocol/config.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { FILE_NUMBERS, TUNABLES, type Tunable, tunables } from "../../src/protocol/tunables.ts";
import { settingsHelp } from "../../src/surface/settings-text.ts";
import { createMachine } from "../support/fake-world.ts";
import { readme, withSettings } from "../support/settings-table.ts";

const { world } = createMachine().process();

test("[CM6] what may stand in the file is what the table says, no more and no less", () => {
  const inTable = tunables().flatMap(([name, { file }]) => (file ? [name as string] : []));
  const inSchema = Object.keys(Config.shape).filter((key) => key !== "$schema");
  expect(inSchema.sort()).toEqual(inTable.sort());
});

test("[CM6] the JSON Schema knows each key with its reason, refuses others, and has the table's limits", () => {
  const schema = configSchema() as {
    properties: Record<string, Record<string, unknown>>;
    additionalProperties: boolean;
    required?: string[];
  };
  expect(schema.additionalProperties).toBe(false);
  expect(schema.required).toBeUndefined();
  for (const name of FILE_NUMBERS) {
    const { reason, least }: Tunable = TUNABLES[name];
    expect(schema.properties[name]).toMatchObject({ type: "integer", minimum: least });
    expect(schema.properties[name]?.["description"]).toContain(reason);
  }
  const agent = schema.properties["agents"]?.["additionalProperties"] as { properties: object } | undefined;
  const undescribed = Object.entries(agent?.properties ?? { none: {} }).filter(([, each]) => !each.description);
  expect(undescribed).toEqual([]);
});

test("[CM6] a file may name its schema, which changes nothing", () => {
  expect(Config.parse({ $schema: "./holdfast.schema.json", MAX_CLIENTS: 3 }).MAX_CLIENTS).toBe(3);
  expect(Config.safeParse({ MAX_CLIENTS: 0 }).success).toBe(false);
});

test("[CM6] [HO7] every number of the file reaches the host's settings, under its name", () => {
  // Journals are their agents' affair, and nothing a successor must inherit.
  const ofHosts = FILE_NUMBERS.filter((name) => !name.startsWith("JOURNAL_"));
  const said = Object.fromEntries(ofHosts.map((name, index) => [name, 1_000 + index]));
  const own = ownSettings({ env: {}, world, config: Config.parse(said) });
  expect(settingsOf({ ...DEFAULT_SETTINGS, ...own })).toEqual({ auth: "token", ...said });
  // Frames are the wire's affair: what is not in the table keeps its size.
  expect(own.limits?.frameBytes).toBe(DEFAULT_SETTINGS.limits.frameBytes);
});

test("[HO7] who says nothing has nothing that a predecessor could disagree with", () => {
  expect(ownSettings({ env: {}, world, config: Config.parse({}) })).toEqual({});
});

test("[CM6] the README prints the table as it is; if this fails: bun run settings", () => {
  const text = readme();
  expect(text).toBe(withSettings(text));
  for (const [name] of tunables()) expect(text).toContain(`| \`${name}\` |`);
});

test("[CM6] help config tells each setting, its default and its reason, on a page of 100 columns", () => {
  const lines = settingsHelp();
  const text = lines.join(" ").replace(/\s+/g, " ");
  for (const [name, { reason }] of tunables()) {
    expect(text).toContain(` ${name} `);
    expect(text).toContain(reason);
  }
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
});
