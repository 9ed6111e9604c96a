import { expect, test } from "bun:test";
import { didYouMean, distance, nearest } from "../../src/surface/suggest.ts";

test.each([
  ["serve", "serve", 0],
  ["serve", "sevre", 1],
  ["serve", "serv", 1],
  ["serve", "swerve", 1],
  ["kitten", "sitting", 3],
  ["", "abc", 3],
])("%s is as far from %s as %d slips", (left, right, away) => {
  expect(distance(left, right)).toBe(away);
  expect(distance(right, left)).toBe(away);
});

const commands = ["serve", "status", "stop", "sessions", "screenshot", "run"];

test("[CM4] the nearest command is suggested, whatever its case", () => {
  expect(nearest("statsu", commands)).toBe("status");
  expect(nearest("STOP", commands)).toBe("stop");
  expect(nearest("rum", commands)).toBe("run");
});

test("[CM4] the only command that begins so is suggested", () => {
  expect(nearest("screen", commands)).toBe("screenshot");
  expect(nearest("st", ["status", "started"])).toBeUndefined();
});

test("[CM4] nothing is suggested where nothing is near", () => {
  expect(nearest("frobnicate", commands)).toBeUndefined();
  expect(nearest("rxy", commands)).toBeUndefined();
  expect(didYouMean("frobnicate", commands, 'see "holdfast help"')).toBe('; see "holdfast help"');
});
