// Is what others could read found, and only what is ours closed?
import { expect, test } from "bun:test";
import { closeFiles } from "../../../src/commands/doctor/fix.ts";
import { isTooOpen, judgeModes, judgeWritable } from "../../../src/commands/doctor/modes.ts";
import type { Checkup, Entry } from "../../../src/platform/checkup.ts";

const entry = (path: string, mode: number, more: Partial<Entry> = {}): Entry => ({
  path,
  directory: false,
  mode,
  link: false,
  ours: true,
  ...more,
});

test("directories are 0700 and everything else 0600, or stricter", () => {
  for (const mode of [0o600, 0o400, 0]) expect(isTooOpen(entry("f", mode))).toBe(false);
  for (const mode of [0o640, 0o604, 0o700, 0o666]) expect(isTooOpen(entry("f", mode))).toBe(true);
  const directory = { directory: true };
  expect(isTooOpen(entry("d", 0o700, directory))).toBe(false);
  expect(isTooOpen(entry("d", 0o710, directory))).toBe(true);
});

test("each that is too open is a problem with its path, its mode and the remedy; the eleventh is counted", () => {
  const found = judgeModes("/s", [entry("/s", 0o755, { directory: true }), entry("/s/token", 0o644)]);
  expect(found.map(({ level, text, hint }) => [level, text, hint])).toEqual([
    ["problem", '"/s" is open to others (mode 0755)', 'holdfast doctor --fix, or: chmod 0700 "/s"'],
    ["problem", '"/s/token" is open to others (mode 0644)', 'holdfast doctor --fix, or: chmod 0600 "/s/token"'],
  ]);
  const many = judgeModes(
    "/s",
    Array.from({ length: 13 }, (_, index) => entry(`/s/${index}`, 0o644)),
  );
  expect(many).toHaveLength(11);
  expect(many.at(-1)?.text).toBe("3 more like these");
});

test("all right is one line, and so is nothing at all", () => {
  expect(judgeModes("/s", [entry("/s/token", 0o600)])).toMatchObject([
    { level: "ok", text: "Only you can read /s (1 entry)" },
  ]);
  expect(judgeModes("/s", [])).toMatchObject([{ level: "ok" }]);
});

test("links and things of others are problems that are not touched", () => {
  const others = [entry("/s/l", 0o777, { link: true }), entry("/s/o", 0o644, { ours: false })];
  expect(judgeModes("/s", others)).toMatchObject([
    { level: "problem", hint: "move it away and start again" },
    { level: "problem", hint: "move it away and start again" },
  ]);
  const changed: [string, number][] = [];
  const checkup = {
    entries: () => [...others, entry("/s/token", 0o644), entry("/s/fine", 0o600)],
    chmod: (path: string, mode: number) => void changed.push([path, mode]),
  } as unknown as Checkup;
  expect(closeFiles(checkup, "/s")).toMatchObject([{ area: "fixed", level: "ok" }]);
  expect(changed).toEqual([["/s/token", 0o600]]);
});

test("what cannot be closed is a problem that says why", () => {
  const checkup = {
    entries: () => [entry("/s/token", 0o644)],
    chmod() {
      throw new Error("EROFS");
    },
  } as unknown as Checkup;
  expect(closeFiles(checkup, "/s")).toMatchObject([{ level: "problem", text: expect.stringContaining("EROFS") }]);
});

test("[CM3] a state directory that cannot be written is a problem: no host can start", () => {
  expect(judgeWritable("/s", true)).toEqual([]);
  expect(judgeWritable("/s", false)).toMatchObject([
    { level: "problem", hint: expect.stringContaining("XDG_STATE_HOME") },
  ]);
});
