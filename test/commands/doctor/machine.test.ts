// Does the doctor say what a platform lacks, and when the disk is full?
import { expect, test } from "bun:test";
import { summaryOf } from "../../../src/commands/doctor/finding.ts";
import { lacksOf, roomIn } from "../../../src/commands/doctor/machine.ts";
import { checkAgents, checkBrowser } from "../../../src/commands/doctor/programs.ts";
import type { Checkup } from "../../../src/platform/checkup.ts";

const checkup = (more: Partial<Checkup>): Checkup => ({
  platform: "linux",
  arch: "x64",
  bun: "1",
  entries: () => [],
  chmod() {},
  freeBytes: () => 0,
  isWritable: () => true,
  findCommand: () => undefined,
  findBrowser: () => undefined,
  versionOf: async () => undefined,
  isAlive: () => false,
  here: undefined,
  ...more,
});

test("[CM9] Linux lacks nothing, macOS little, Windows the keepers, and each is said", () => {
  expect(lacksOf("linux")).toEqual([]);
  expect(lacksOf("darwin").join()).toMatch(/holds a port/);
  expect(lacksOf("darwin").join()).not.toMatch(/keepers|modes/);
  expect(lacksOf("win32").join()).toMatch(/agents die with their host: there are no keepers/);
});

test("less than 16 MiB on the disk is a problem, which says what to do", () => {
  const MIB = 1024 * 1024;
  expect(roomIn("/s", 16 * MIB)).toEqual([{ area: "disk", level: "ok", text: "16 MiB free for /s", hint: null }]);
  expect(roomIn("/s", 16 * MIB - 1)).toMatchObject([{ level: "problem", hint: expect.stringContaining("make room") }]);
  expect(roomIn("/s", Number.POSITIVE_INFINITY)).toEqual([]);
});

test("each agent is found under its first command, asked for its version with its own environment only", async () => {
  const asked: [string, Readonly<Record<string, string>>, number][] = [];
  const found = await checkAgents(
    checkup({
      findCommand: (command, path) => (command.startsWith("claude-agent") ? `${path}/${command}` : undefined),
      async versionOf(...question) {
        asked.push(question);
        return "3.1";
      },
    }),
    { agents: {} },
    { PATH: "/bin", ANTHROPIC_API_KEY: "k", OTHER: "o" },
  );
  const says = (name: string) => found.find(({ text }) => text.startsWith(name));
  expect(says("claude-code")?.text).toBe("claude-code (Claude Code) is /bin/claude-agent-acp, 3.1");
  expect(asked).toEqual([["/bin/claude-agent-acp", { PATH: "/bin", ANTHROPIC_API_KEY: "k" }, 3_000]]);
  expect(says("codex")).toMatchObject({ level: "ok", hint: expect.stringContaining("npm install -g") });
  expect(found.every(({ level }) => level === "ok")).toBe(true);
});

test("[CM9] no browser is a warning with the line that installs one here", async () => {
  const missing = (platform: string) => checkBrowser(checkup({ platform }), {});
  expect(await missing("linux")).toMatchObject([{ level: "warning", hint: expect.stringContaining("apt install") }]);
  expect(await missing("darwin")).toMatchObject([{ hint: expect.stringContaining("brew install") }]);
  const there = checkup({ findBrowser: () => "/c", versionOf: async () => "Chromium 1" });
  expect(await checkBrowser(there, {})).toEqual([{ area: "browser", level: "ok", text: "/c, Chromium 1", hint: null }]);
});

test("the last line counts", () => {
  const of = (...levels: ("ok" | "warning" | "problem")[]) =>
    summaryOf(levels.map((level) => ({ area: "", level, text: "", hint: null })));
  expect(of("ok")).toBe("No problem, no warning");
  expect(of("problem", "warning", "warning")).toBe("1 problem, 2 warnings");
});
