// Does a successor go on with its predecessor's settings, and say what of its own they overrule?
import { expect, test } from "bun:test";
import { chooseSettings } from "../../src/core/reign.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../src/protocol/settings.ts";

const inherited: Settings = { ...DEFAULT_SETTINGS, auth: "none", pluginToken: "let-me-in" };

test("[HO7] a new reign has its own settings over the defaults", () => {
  expect(chooseSettings({ auth: "none" }, undefined)).toEqual({
    settings: { ...DEFAULT_SETTINGS, auth: "none" },
    conflicts: [],
  });
});

test("[HO7] a successor uses what was kept, and names each conflict with its own", () => {
  const own = { auth: "token", idle: { ...DEFAULT_SETTINGS.idle, idleTimeoutMs: 1 } } as const;
  expect(chooseSettings(own, inherited)).toEqual({ settings: inherited, conflicts: ["auth", "idle"] });
});

test("[HO7] what agrees, and what was not said, is no conflict", () => {
  expect(chooseSettings({}, inherited).conflicts).toEqual([]);
  expect(chooseSettings({ auth: "none", limits: { ...DEFAULT_SETTINGS.limits } }, inherited).conflicts).toEqual([]);
});
