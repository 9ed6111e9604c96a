// Is a settings file read with care? What it leaves out has its default; anything wrong in it is an error.
import { expect, test } from "bun:test";
import { DEFAULT_SETTINGS, settingsFrom } from "../../src/protocol/settings.ts";

test("what is left out has its default, and what is unknown is left out", () => {
  expect(settingsFrom({})).toEqual(DEFAULT_SETTINGS);
  expect(settingsFrom({ later: 1, limits: { clients: 3, later: 1 }, idle: { maxIdleMs: 0 } })).toEqual({
    ...DEFAULT_SETTINGS,
    limits: { ...DEFAULT_SETTINGS.limits, clients: 3 },
    idle: { ...DEFAULT_SETTINGS.idle, maxIdleMs: 0 },
  });
  expect(settingsFrom({ auth: "none", pluginToken: "12345678" })).toMatchObject({
    auth: "none",
    pluginToken: "12345678",
  });
});

test("what was written is read again", () => {
  expect(settingsFrom(JSON.parse(JSON.stringify(DEFAULT_SETTINGS)))).toEqual(DEFAULT_SETTINGS);
});

const WRONG = [
  null,
  [],
  "text",
  { auth: "some" },
  { auth: null },
  { pluginToken: "short" },
  { pluginToken: 12345678 },
  { limits: null },
  { limits: { clients: 0 } },
  { limits: { clients: 1.5 } },
  { limits: { clients: null } },
  { idle: [] },
  { idle: { maxIdleMs: -1 } },
  { idle: { maxIdleMs: "5" } },
];

test("anything wrong is refused", () => {
  for (const value of WRONG) expect(() => settingsFrom(value)).toThrow(TypeError);
});
