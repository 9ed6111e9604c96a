// Can the checkers of chaos fail? Each finds the violation that is planted for it, and nothing where all is well.
import { describe, expect, test } from "bun:test";
import { endsWhole } from "./actors/editor.ts";
import { checkExecs } from "./checks/execs.ts";
import { aroundOf, judgeExit } from "./checks/exits.ts";
import { checkAnswers, checkHolders } from "./checks/hosts.ts";
import { checkNumbers, checkTurns, readJournal } from "./checks/journals.ts";
import { leftOf } from "./checks/leftovers.ts";
import { checkPrompts, countPrompts } from "./checks/prompts.ts";
import { checkTraces, traceIn } from "./checks/traces.ts";
import { checkView } from "./checks/views.ts";
import type { Command, FaultDone, SeenEvent, Violation } from "./history.ts";
import { AT, command, fault, AT_NOON as NOON } from "./planted.ts";
import { createWorks } from "./work.ts";

const record = (seq: number, type: string, data: Record<string, unknown> = {}): SeenEvent => ({
  seq,
  at: AT,
  type,
  data,
});
const says = (seq: number, text: string): SeenEvent =>
  record(seq, "update", { update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } });
const journalOf = (...records: SeenEvent[]) =>
  readJournal("work", records.map((each) => JSON.stringify(each)).join("\n"));
const kindsOf = (found: readonly Violation[]) => found.map(({ kind }) => kind);

const works = createWorks("t");
const stream = works.stream(2, 1);
const TURN = [
  record(1, "session-created"),
  record(2, "prompt", { promptId: "a", text: stream.text }),
  record(3, "turn-started", { promptId: "a" }),
  says(4, "chunk 1\n"),
  says(5, "chunk 2\n"),
  record(6, "turn-ended", { promptId: "a", stopReason: "end_turn" }),
];

describe("journals", () => {
  test("[SE3] a journal without fault has no violation", () => {
    expect(checkNumbers(journalOf(...TURN))).toEqual([]);
    expect(checkTurns(journalOf(...TURN), works.known).found).toEqual([]);
  });
  test("[KP12] a number that was given twice has two writers, one that is missing is lost", () => {
    expect(kindsOf(checkNumbers(journalOf(...TURN, says(5, "chunk 2\n"))))).toEqual(["double writer"]);
    expect(kindsOf(checkNumbers(journalOf(...TURN.filter(({ seq }) => seq !== 4))))).toEqual(["lost"]);
  });
  test("[KP2] a line of the answer that is missing, doubled or late is found", () => {
    const without = TURN.filter(({ seq }) => seq !== 5);
    expect(kindsOf(checkTurns(journalOf(...without), works.known).found)).toEqual(["lost"]);
    const twice = TURN.toSpliced(5, 0, says(6, "chunk 2\n"));
    expect(kindsOf(checkTurns(journalOf(...twice), works.known).found)).toEqual(["doubled"]);
    const late = [...TURN, says(7, "chunk 2\n")];
    expect(kindsOf(checkTurns(journalOf(...late), works.known).found)).toEqual(["doubled"]);
  });
  test("[SE2] a turn that begins or ends twice, or inside another one, is found", () => {
    const ends = record(7, "turn-ended", { promptId: "a", stopReason: "end_turn" });
    expect(kindsOf(checkTurns(journalOf(...TURN, ends), works.known).found)).toEqual(["doubled"]);
    const inside = TURN.toSpliced(
      3,
      0,
      record(4, "prompt", { promptId: "b", text: "b" }),
      record(5, "turn-started", { promptId: "b" }),
    );
    expect(kindsOf(checkTurns(journalOf(...inside), works.known).found)).toContain("doubled");
  });
  test("a torn line is no record", () => expect(readJournal("work", '{"seq":1').torn).toBe(1));
});

describe("views", () => {
  const journal = new Map(TURN.map((each) => [each.seq, each]));
  const seen = (after: number | undefined, events: SeenEvent[]) =>
    kindsOf(checkView({ who: "v", session: "work", after, events }, journal));
  const both = { ...says(5, "chunk 1\nchunk 2\n"), from: 4 };
  test("[SE5] each number once, in order, merged or not, with the journal's words", () => {
    expect(seen(0, TURN)).toEqual([]);
    expect(seen(3, [both, ...TURN.slice(5)])).toEqual([]);
    expect(seen(undefined, TURN.slice(2))).toEqual([]);
  });
  test("[SE3] a gap, a number twice, other words and a number that is nowhere are found", () => {
    expect(seen(0, TURN.slice(1))).toEqual(["lost"]);
    expect(seen(3, [...TURN.slice(3, 4), ...TURN.slice(3)])).toEqual(["doubled"]);
    expect(seen(3, [{ ...both, ...says(5, "chunk 1\nchunk 9\n"), from: 4 }])).toEqual(["differing view"]);
    expect(seen(5, [record(6, "turn-ended", { promptId: "a", stopReason: "lost" })])).toEqual(["differing view"]);
    expect(seen(6, [says(7, "more")])).toEqual(["lost"]);
  });
});

describe("prompts and execs", () => {
  const { turns } = checkTurns(journalOf(...TURN), works.known);
  const sent = command("prompt", 0, { about: { text: stream.text, session: "work" } });
  const told = { record: new Map([[stream.text, 1]]), turns, commands: [sent], faults: [] };
  test("[KP3] a prompt that its agent wrote down once is well", () => expect(checkPrompts(told)).toEqual([]));
  test("[KP3] a prompt that its agent got twice, or never behind exit 0, is found", () => {
    expect(kindsOf(checkPrompts({ ...told, record: new Map([[stream.text, 2]]) }))).toEqual(["doubled"]);
    expect(kindsOf(checkPrompts({ ...told, record: new Map() }))).toEqual(["lost"]);
    expect(kindsOf(checkPrompts({ ...told, turns: [] }))).toEqual(["lost"]);
  });
  test("[SE7] a loss that nobody caused and a turn without an end are found", () => {
    const ended = (stopReason: string | undefined) =>
      turns.map((turn) => ({ ...turn, stopReason, startedAt: NOON, endedAt: NOON }));
    const check = (stopReason: string | undefined, faults: FaultDone[]) =>
      kindsOf(checkPrompts({ ...told, commands: [], turns: ended(stopReason), faults }));
    expect(check("lost", [])).toEqual(["lost"]);
    expect(check("lost", [fault("kill agent")])).toEqual([]);
    expect(check(undefined, [])).toEqual(["lost"]);
  });
  test("what a command must print is compared", () => {
    const short = command("prompt", 0, { about: { prints: "a\n" }, out: "a\na\n" });
    expect(kindsOf(checkPrompts({ ...told, commands: [short] }))).toEqual(["lost"]);
  });
  test("the agent's own record is counted line by line, torn ones left out", () =>
    expect(countPrompts(['{"user":"a"}\n{"agent":"x"}\n{"us', '{"user":"a"}'])).toEqual(new Map([["a", 2]])));
  test("an exec that ran twice, or never behind exit 0, is found; one that was lost may have run or not", () => {
    const ran = (code: number, ...tokens: string[]) =>
      kindsOf(checkExecs([command("exec", code, { about: { token: "t" } })], tokens));
    expect(ran(0, "t")).toEqual([]);
    expect(ran(5)).toEqual([]);
    expect(ran(5, "t", "t")).toEqual(["doubled"]);
    expect(ran(0)).toEqual(["lost"]);
  });
});

test("an editor may see the rest of an older turn in front of its answer, and nothing behind it", () => {
  const { isWhole } = works.stream(2, 2);
  expect(endsWhole({ isWhole }, "chunk 8\nchunk 1\nchunk 2\n")).toBe(true);
  expect(endsWhole({ isWhole }, "chunk 1\nchunk 2\nchunk 2\n")).toBe(false);
  expect(endsWhole({ isWhole }, "")).toBe(false);
});

describe("exit codes", () => {
  const judge = (made: Command, faults: FaultDone[] = [], others: Command[] = []) =>
    judgeExit(made, aroundOf(made, [made, ...others], faults))?.kind;
  test("[CM10] what may be asked twice never ends with 5", () => {
    for (const kind of ["sessions", "status", "read", "cancel", "keep", "close"])
      expect(judge(command(kind, 5), [fault("kill host"), fault("kill agent")])).toBe("undocumented exit");
  });
  test("[KP5] a prompt ends with 5 only where its agent was killed", () => {
    expect(judge(command("prompt", 5), [fault("kill host")])).toBe("undocumented exit");
    expect(judge(command("prompt", 5), [fault("kill agent")])).toBeUndefined();
    expect(judge(command("prompt", 5), [fault("kill agent", { at: NOON - 60_000, until: NOON - 60_000 })])).toBe(
      "undocumented exit",
    );
  });
  test("an agent that seems deaf and a browser that never answers are excused where the machine had no time", () => {
    expect(judge(command("cancel", 6))).toBe("undocumented exit");
    expect(judge(command("cancel", 6), [fault("starve")])).toBeUndefined();
    expect(judge(command("cancel", 5), [fault("starve")])).toBe("undocumented exit");
    expect(judge(command("browse", 8), [fault("starve")])).toBeUndefined();
  });
  test("[CM3] 130 is for those that were told, 1 for those that another one cancelled", () => {
    expect(judge(command("prompt", 130))).toBe("undocumented exit");
    expect(judge(command("prompt", 130, { told: [{ at: NOON, signal: "SIGINT" }] }))).toBeUndefined();
    const about = { session: "work" };
    expect(judge(command("prompt", 1, { about }))).toBe("undocumented exit");
    expect(judge(command("prompt", 1, { about }), [], [command("cancel", 0, { id: 2, about })])).toBeUndefined();
  });
  test("a signal that nobody sent, and a command without an end, are found", () => {
    expect(judge(command("prompt", null, { signal: "SIGSEGV" }))).toBe("undocumented exit");
    expect(
      judge(command("prompt", null, { signal: "SIGKILL", told: [{ at: NOON, signal: "SIGKILL" }] })),
    ).toBeUndefined();
    expect(judge(command("prompt", null, { signal: "SIGKILL", isHung: true }))).toBe("hung");
  });
});

describe("hosts, traces and what is left", () => {
  const reign = [
    { at: NOON, pid: 1, who: "a" },
    { at: NOON + 1_000, pid: 2, who: "b" },
  ];
  const held = (pid: number, ...times: number[]) =>
    times.map((ms) => ({ at: NOON + ms, pid, journal: "/s/work.ndjson" }));
  test("[KP12] one that holds a journal on and on beside the next host is found, unless it was stopped", () => {
    expect(kindsOf(checkHolders(held(1, 500, 2_000, 8_000, 15_000), reign, []))).toEqual(["two hosts"]);
    expect(checkHolders(held(1, 500, 2_000, 5_000), reign, [])).toEqual([]);
    expect(checkHolders(held(2, 2_000, 60_000), reign, [])).toEqual([]);
    const frozen = fault("freeze host", { pid: 1, at: NOON, until: NOON + 20_000 });
    expect(checkHolders(held(1, 500, 2_000, 15_000), reign, [frozen])).toEqual([]);
  });
  test("[HO1] a status that one who hosts no more answers is found", () => {
    const asked = (ms: number) => [command("status", 0, { at: NOON + ms, out: '{"pid":1}' })];
    expect(kindsOf(checkAnswers(asked(20_000), reign))).toEqual(["two hosts"]);
    expect(checkAnswers(asked(500), reign)).toEqual([]);
  });
  test("a stack trace is found on stderr and in logs, a sentence is none", () => {
    const trace = "TypeError: x is not a function\n      at go (/$bunfs/root/main.js:1:2)";
    expect(traceIn(trace)).toBeDefined();
    expect(traceIn('{"message":"Error: x\\n    at go (file.ts:3:4)"}')).toBeDefined();
    expect(traceIn("error: The host was lost at 12:30; try again")).toBeUndefined();
    expect(kindsOf(checkTraces([command("read", 0, { err: trace })], new Map([["log", trace]])))).toEqual([
      "trace",
      "trace",
    ]);
  });
  test("[KP7] whatever is left is an orphan", () => {
    const none = { processes: [], listeners: [], sockets: [], keepers: [], temporary: [], browsers: [] };
    expect(leftOf(none)).toEqual([]);
    expect(kindsOf(leftOf({ ...none, processes: ["7 holdfast"], keepers: ["a"] }))).toEqual(["orphan", "orphan"]);
  });
});
