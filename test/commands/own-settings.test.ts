// Does the environment set the idle numbers, and is garbage in it an error instead of a silent 0?
import { expect, test } from "bun:test";
import { ownSettings } from "../../src/commands/own-settings.ts";
import { chooseSettings } from "../../src/core/reign.ts";
import { Config } from "../../src/protocol/config.ts";
import { Fault } from "../../src/protocol/fault.ts";
import { createMachine } from "../support/fake-world.ts";

const MINUTE = 60_000;
const { world } = createMachine().process();
const own = (env: Record<string, string>, config = {}) => ownSettings({ env, world, config: Config.parse(config) });
const NAMES = ["IDLE_TIMEOUT_MS", "MAX_IDLE_MS", "STALE_OUTPUT_MS"] as const;

test("[ID6] the defaults are 5, 30 and 10 minutes", () => {
  expect(own({}).idle).toBeUndefined();
  expect(chooseSettings(own({}), undefined).settings.idle).toEqual({
    idleTimeoutMs: 5 * MINUTE,
    maxIdleMs: 30 * MINUTE,
    staleOutputMs: 10 * MINUTE,
  });
});

test("[ID6] each variable sets its number, and the others keep theirs", () => {
  const defaults = chooseSettings({}, undefined).settings.idle;
  const set = NAMES.map((name) => own({ [name]: "1234" }).idle);
  expect(set).toEqual([
    { ...defaults, idleTimeoutMs: 1234 },
    { ...defaults, maxIdleMs: 1234 },
    { ...defaults, staleOutputMs: 1234 },
  ]);
});

test("[ID6] MAX_IDLE_MS=0 is a number like others here: it means no cap, and not the default", () => {
  expect(own({ MAX_IDLE_MS: "0" }).idle?.maxIdleMs).toBe(0);
});

test("[ID6] the config file has the same names, and the environment wins", () => {
  const config = { IDLE_TIMEOUT_MS: 7, MAX_IDLE_MS: 0 };
  expect(own({ IDLE_TIMEOUT_MS: "9" }, config).idle).toMatchObject({ idleTimeoutMs: 9, maxIdleMs: 0 });
});

test("[ID6] garbage is an error that names the variable and what it holds", () => {
  const garbage = ["", " ", "5m", "-1", "1.5", "1e3", "0x10", "NaN", "Infinity", "null", "١٢", "1 ", "9".repeat(16)];
  for (const name of NAMES) {
    for (const value of garbage) {
      let thrown: unknown;
      try {
        own({ [name]: value });
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(Fault);
      expect(thrown).toMatchObject({ code: "USAGE", data: { variable: name, value } });
      expect(String(thrown)).toContain(`${name} in the environment is "${value}"`);
    }
  }
});
