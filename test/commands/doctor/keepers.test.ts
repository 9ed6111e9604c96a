// Are keepers, and what dead ones left, told apart?
import { expect, test } from "bun:test";
import { judgeKeepers, type Kept, keptPorts } from "../../../src/commands/doctor/keepers.ts";
import type { ProcessMark } from "../../../src/platform/agent-world.ts";
import type { Files } from "../../../src/platform/world.ts";
import type { Whereabouts } from "../../../src/protocol/whereabouts.ts";
import { createFakeFiles } from "../../support/fake-files.ts";

const kept = (agentPid: number | undefined, keeperPid: number | undefined): Kept => ({
  agent: "demo",
  agentPid,
  keeperPid,
});
const judge = (all: Kept[], hosted: boolean) =>
  judgeKeepers({ port: 7, kept: all, unreadable: [] }, hosted).map(({ level, text, hint }) => ({ level, text, hint }));

test("agent and keeper alive: with a host that is fine, without one it is a warning with both ways out", () => {
  expect(judge([kept(1, 2)], true)).toEqual([
    { level: "ok", text: "demo (pid 1) on port 7 is held by keeper 2, and a host looks after it", hint: null },
  ]);
  expect(judge([kept(1, 2)], false)).toEqual([
    {
      level: "warning",
      text: "demo (pid 1) on port 7 is held by keeper 2, and no host looks after it",
      hint: "the next command on port 7 adopts it; to end it: holdfast stop --agents --port 7",
    },
  ]);
});

test("an agent whose keeper is dead, and a keeper whose agent is, are warnings that never offer to clear them away", () => {
  const [orphan] = judge([kept(1, undefined)], false);
  expect(orphan).toMatchObject({ level: "warning", text: "demo (pid 1) on port 7 works on, but its keeper is dead" });
  const [widow] = judge([kept(undefined, 2)], false);
  expect(widow).toMatchObject({ level: "warning", text: expect.stringContaining("keeper 2 waits for a host") });
  expect(`${orphan?.hint} ${widow?.hint}`).not.toContain("--fix");
});

test("both dead are leftovers; they can be fixed only where nothing lives and nobody hosts", () => {
  const dead = kept(undefined, undefined);
  expect(judge([dead, dead], false)).toEqual([
    {
      level: "warning",
      text: "Leftovers of 2 dead agents on port 7",
      hint: expect.stringMatching(/^holdfast doctor --fix, or: the next command on port 7/),
    },
  ]);
  expect(judge([dead, kept(1, 2)], false).at(-1)?.hint).not.toContain("--fix");
  expect(judge([dead], true).at(-1)?.hint).not.toContain("--fix");
});

const mark = (pid: number) => ({ pid, startTime: "t" });

function directory(texts: Record<string, string>): Files {
  const files = createFakeFiles();
  for (const [path, text] of Object.entries(texts)) files.replace(path, text);
  const list = (path: string) => [
    ...new Set(
      Object.keys(texts)
        .filter((each) => each.startsWith(`${path}/`))
        .map((each) => each.slice(path.length + 1).split("/")[0] ?? ""),
    ),
  ];
  return { ...files, list };
}

test("every port's directory is read; a number alone proves nothing, its start time must fit", () => {
  const files = directory({
    "/s/ports/7.json": "{}",
    "/s/ports/7/keepers/a/spec.json": JSON.stringify({ agent: "demo" }),
    "/s/ports/7/keepers/a/state.json": JSON.stringify({ keeper: mark(2), agent: mark(1) }),
    "/s/ports/9/keepers/b/spec.json": JSON.stringify({ agent: "codex" }),
    "/s/ports/8/sessions/x.jsonl": "",
  });
  const isAlive = ({ pid, startTime }: ProcessMark): boolean => pid === 1 && startTime === "t";
  expect(keptPorts(files, "/s", { isAlive, here: undefined })).toEqual([
    { port: 7, kept: [kept(1, undefined)], unreadable: [] },
    { port: 9, kept: [{ agent: "codex", agentPid: undefined, keeperPid: undefined }], unreadable: [] },
  ]);
});

test("[KP13] of an earlier boot nobody lives, whatever the numbers say; of another machine or namespace nothing is said", () => {
  const here: Whereabouts = { id: "a", machine: "m", host: "h", boot: "b", pids: "p", net: "n" };
  const state = JSON.stringify({ keeper: mark(2), agent: mark(1) });
  const spec = (where: Whereabouts) => JSON.stringify({ agent: "demo", where });
  const files = directory({
    "/s/ports/7/keepers/a/spec.json": spec({ ...here, boot: "before" }),
    "/s/ports/7/keepers/a/state.json": state,
    "/s/ports/9/keepers/b/spec.json": spec({ ...here, net: "another" }),
    "/s/ports/9/keepers/b/state.json": state,
  });
  expect(keptPorts(files, "/s", { isAlive: () => true, here })).toEqual([
    { port: 7, kept: [kept(undefined, undefined)], unreadable: [] },
  ]);
});

test("what may not be read is told, and hides nothing else", () => {
  const files = directory({ "/s/ports/7/keepers/a/spec.json": "{}", "/s/ports/9/keepers/b/spec.json": "{}" });
  const readPrivate = (path: string) => {
    if (path.includes("/7/")) throw new Error(`"${path}" is open to others`);
    return files.readPrivate(path);
  };
  const [first, second] = keptPorts({ ...files, readPrivate }, "/s", { isAlive: () => false, here: undefined });
  if (!first || !second) throw new Error("Two ports are there");
  expect(judgeKeepers(first, false)).toMatchObject([
    { level: "problem", text: expect.stringContaining("open to others") },
  ]);
  expect(judgeKeepers(second, false)).toMatchObject([{ level: "warning" }]);
});
