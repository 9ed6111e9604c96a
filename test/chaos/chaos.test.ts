// Is chaos itself in order? Its dice, its words, its flags, its sums and its stories.
import { describe, expect, test } from "bun:test";
import { createDice } from "../support/dice.ts";
import { chosenFaults, FAULTS, pickFault } from "./faults/table.ts";
import { createHistory, type Violation } from "./history.ts";
import { readOptions } from "./options.ts";
import { command, fault, AT_NOON as NOON } from "./planted.ts";
import { listeningInode, roleOf } from "./processes.ts";
import { countOf, summaryOf, tableOf } from "./report.ts";
import { triesOf } from "./shrink.ts";
import { suspects, tellStory } from "./story.ts";
import { chunks, createWorks } from "./work.ts";

describe("dice, words and the report", () => {
  test("the same seed chooses the same faults", () => {
    const names = (seed: number) => {
      const dice = createDice(seed);
      return Array.from({ length: 50 }, () => pickFault(dice, FAULTS).name);
    };
    expect(names(3)).toEqual(names(3));
    expect(names(3)).not.toEqual(names(4));
    expect(new Set(names(3)).size).toBeGreaterThan(5);
  });
  test("faults are chosen by name, or by the first word of several", () => {
    expect(chosenFaults(["leave"]).map(({ name }) => name)).toEqual(["leave", "leave-frozen"]);
    expect(chosenFaults(["kill-host"])).toHaveLength(1);
    expect(() => chosenFaults(["nothing"])).toThrow('no fault "nothing"');
  });
  test("flags are read, and wrong ones are said", () => {
    const read = readOptions(["--seed", "7", "--seconds=5", "--load", "2", "--disk", "48"], FAULTS);
    expect(read).toMatchObject({ rounds: [{ seed: 7, seconds: 5 }], load: 2, diskMb: 48, json: false });
    expect(readOptions(["--check"], FAULTS)).toMatchObject({ rounds: [{ seed: 11, seconds: 30 }, { seconds: 30 }] });
    expect(readOptions(["--help"], FAULTS)).toBe("help");
    expect(() => readOptions(["--seed", "x"], FAULTS)).toThrow('--seed got "x"');
    expect(() => readOptions(["--sed", "1"], FAULTS)).toThrow('"--sed" is no flag');
  });
  test("a shorter story is looked for with those that struck before, together and alone", () => {
    const names = (suspects: string[], all = FAULTS) =>
      triesOf(suspects, all).map((faults) => faults.map(({ name }) => name));
    expect(names(["leave", "kill-host"])).toEqual([["kill-host", "leave"], ["kill-host"], ["leave"]]);
    expect(names(["leave"])).toEqual([["leave"]]);
    expect(names(["leave"], chosenFaults(["kill-host"]))).toEqual([]);
  });
  test("every prompt is unique, and knows its whole answer and its beginnings", () => {
    const own = createWorks("u");
    const dice = createDice(1);
    const all = Array.from({ length: 500 }, () => own.any(dice));
    expect(new Set(all.map(({ text }) => text)).size).toBe(500);
    const work = own.stream(3, 1);
    expect([
      work.isWhole(chunks(3)),
      work.isWhole(chunks(2)),
      work.isBegun(chunks(2)),
      work.isBegun("chunk 2\n"),
    ]).toEqual([true, false, true, false]);
  });
  test("processes are told apart by their words, and the listener by the kernel's table", () => {
    const roles = [
      "/b/holdfast keeper /s/k",
      "/b/holdfast demo-agent",
      "/b/holdfast serve --standby --json",
      "/b/holdfast attach p1",
      "/c/chromium --user-data-dir=/x",
      "/c/chromium --type=renderer --user-data-dir=/x",
      "vi",
    ];
    expect(roles.map(roleOf)).toEqual(["keeper", "agent", "standby", "client", "browser", undefined, undefined]);
    const line = "   0: 0100007F:9755 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 4242 1";
    expect(listeningInode(line, 38_741)).toBe("4242");
    expect(listeningInode(line, 38_742)).toBeUndefined();
  });
  test("the summary counts, and the story tells what led to it", () => {
    const history = createHistory();
    history.faults.push(fault("kill host", { pid: 3, name: "kill-host" }), fault("told within a second"));
    history.commands.push(command("prompt", 0, { about: { text: "a" } }));
    const violations: Violation[] = [
      { kind: "double writer", text: "twice", at: NOON, session: "work" },
      { kind: "differing view", text: "differs", at: NOON, session: "work" },
    ];
    const summary = summaryOf([{ seed: 1, counts: countOf(history), violations }]);
    expect(summary).toMatchObject({ allKills: 1, told: 1, prompts: 1, doubleWriters: 1, others: 1, lost: 0 });
    expect(tableOf(summary)).toMatch(/double writers +1/);
    const story = tellStory(violations, { history }).join("\n");
    expect(story).toContain("DOUBLE WRITER: twice");
    expect(story).toContain("kill host 3");
    expect(story).toContain("1 that follow");
    expect(suspects(history, violations[0] as Violation)).toContain("kill-host");
  });
});
