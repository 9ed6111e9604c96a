// Do a session's records add up to what the next host needs? Each type, and any journal cut at any place.
import { describe, expect, test } from "bun:test";
import { createSessionFold, noticeRecord, type SessionFold } from "../../src/core/session-fold.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { createDice, type Dice } from "../support/dice.ts";

type Said = [type: string, data?: Record<string, unknown>, source?: { run: string; offset: number }];

const at = (seq: number): string => new Date(Date.UTC(2030, 0, 1) + seq * 1_000).toISOString();

const records = (said: readonly Said[]): SessionRecord[] =>
  said.map(([type, data = {}, source], index) => ({
    seq: index + 1,
    at: at(index + 1),
    type,
    data,
    ...(source ? { source } : {}),
  }));

function foldOf(all: readonly SessionRecord[], fold: SessionFold = createSessionFold()): SessionFold {
  for (const record of all) noticeRecord(fold, record);
  return fold;
}

const fold = (...said: Said[]): SessionFold => foldOf(records(said));
const update = (more: Record<string, unknown>): Said => ["update", { update: more }];
const prompt = (promptId: string): Said => ["prompt", { promptId, text: "t", policy: "ask", clientId: "c" }];

describe("one record", () => {
  test("[KP4] the last number and time are those of the last record, also of one that nobody knows", () => {
    expect(fold(["session-created", { agent: "a", cwd: "/w" }], ["something-new"])).toMatchObject({
      seq: 2,
      at: at(2),
      agent: "a",
      cwd: "/w",
    });
  });

  test("[KP4] what was heard never goes back in one life of the agent: a host that has just adopted it knows less", () => {
    const heard = (offset: number, run = "r1"): Said => ["update", { update: {} }, { run, offset }];
    const begun = (offset: number): Said => ["turn-started", { promptId: "p" }, { run: "r1", offset }];
    expect(fold(heard(500), begun(99)).heard).toEqual([{ run: "r1", offset: 500 }]);
    expect(fold(heard(500), begun(600)).heard).toEqual([{ run: "r1", offset: 600 }]);
    expect(fold(heard(500), heard(7, "r2")).heard).toEqual([
      { run: "r1", offset: 500 },
      { run: "r2", offset: 7 },
    ]);
  });

  test("[KP4] a session is open in the life of the agent that opened or restored it", () => {
    const opened: Said = ["session-opened", { acpSessionId: "s" }, { run: "r1", offset: -1 }];
    expect(fold(opened)).toMatchObject({
      acpSessionId: "s",
      openSeq: 1,
      run: "r1",
      heard: [{ run: "r1", offset: -1 }],
    });
    expect(fold(opened, ["restored", { how: "load" }, { run: "r2", offset: 7 }])).toMatchObject({
      run: "r2",
      openSeq: 1,
    });
  });

  test.each(["agent-exited", "idle-stopped", "context-lost", "session-closed"])(
    "[KP4] after %p it is open nowhere, and nobody waits for its tools",
    (type) => {
      const end = fold(
        ["session-opened", { acpSessionId: "s" }, { run: "r1", offset: -1 }],
        ["restoring"],
        update({ sessionUpdate: "tool_call", toolCallId: "t", status: "pending" }),
        [type],
      );
      expect([end.run, end.toolCalls, end.suppressed]).toEqual([undefined, [], false]);
    },
  );

  test("[KP4] a lost context gives the next session/new another key; an exit does not", () => {
    const opened: Said = ["session-opened", { acpSessionId: "s" }];
    expect(fold(opened, ["context-lost"]).openSeq).toBe(2);
    expect(fold(opened, ["agent-exited"]).openSeq).toBe(1);
  });

  test("[KP4] what is replayed is history until the next turn starts", () => {
    const restored: Said[] = [["restoring"], ["restored", {}, { run: "r", offset: 3 }]];
    expect(fold(...restored).suppressed).toBe(true);
    expect(fold(...restored, prompt("p"), ["turn-started", { promptId: "p" }]).suppressed).toBe(false);
  });

  test("[KP4] the queue is what was asked and has no end, in order, with who asked and the policy", () => {
    const end = fold(prompt("a"), prompt("b"), prompt("c"), ["turn-started", { promptId: "a" }]);
    expect(end.open).toEqual(
      ["a", "b", "c"].map((promptId, index) => ({
        promptId,
        seq: index + 1,
        at: at(index + 1),
        policy: "ask",
        clientId: "c",
      })),
    );
    expect(end.started).toEqual({ promptId: "a", at: at(4) });
    expect(end.prompts).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 2],
    ]);
  });

  test("[KP4] a turn that ended is neither started nor queued, and its id is still known", () => {
    const end = fold(prompt("a"), ["turn-started", { promptId: "a" }], ["turn-ended", { promptId: "a" }]);
    expect([end.open, end.started, end.prompts]).toEqual([[], undefined, [["a", 0]]]);
    const withdrawn = fold(
      prompt("a"),
      prompt("b"),
      ["turn-started", { promptId: "a" }],
      ["withdrawn", { promptId: "b" }],
    );
    expect(withdrawn.open.map(({ promptId }) => promptId)).toEqual(["a"]);
    expect(withdrawn.started?.promptId).toBe("a");
  });

  test("[KP4] the newest thousand prompt ids are known, older ones are let go", () => {
    const all = Array.from({ length: 1_010 }, (_, index): Said[] => [
      prompt(`p${index}`),
      ["turn-ended", { promptId: `p${index}` }],
    ]).flat();
    const { prompts } = fold(...all);
    expect([prompts.length, prompts[0]?.[0], prompts.at(-1)?.[0]]).toEqual([1_000, "p10", "p1009"]);
  });

  test("[KP4] a permission request is open until its answer, which is kept as it is sent", () => {
    const asked: Said = [
      "permission-requested",
      { permissionId: "r:1", toolCall: { a: 1 }, options: [1], policy: "ask" },
    ];
    expect(fold(asked).permissions).toEqual([{ permissionId: "r:1", toolCall: { a: 1 }, options: [1] }]);
    const answered: Said = [
      "permission-resolved",
      { permissionId: "r:1", outcome: "selected", optionId: "y", by: "ann" },
    ];
    expect(fold(asked, answered).permissions).toMatchObject([
      { permissionId: "r:1", outcome: { outcome: "selected", optionId: "y" } },
    ]);
    expect(fold(asked, answered).permissions[0]?.outcome).not.toHaveProperty("by");
  });

  test("[KP4] tools in use, mode and options are what the agent told of them last", () => {
    const end = fold(
      update({ toolCallId: "t1", status: "pending" }),
      update({ toolCallId: "t2", status: "in_progress" }),
      update({ toolCallId: "t1", title: "without a state" }),
      update({ toolCallId: "t2", status: "completed" }),
      update({ sessionUpdate: "current_mode_update", currentModeId: "plan" }),
      update({
        sessionUpdate: "config_option_update",
        configOptions: [{ id: "model", currentValue: "big" }, { id: "odd", currentValue: 3 }, null],
      }),
    );
    expect([end.toolCalls, end.modeId, end.options, end.lastOutputAt]).toEqual([
      ["t1"],
      "plan",
      [["model", "big"]],
      at(6),
    ]);
  });

  test("[KP4] closed until somebody asks again", () => {
    expect(fold(prompt("a"), ["session-closed"]).closed).toBe(true);
    expect(fold(["session-closed"], prompt("a")).closed).toBe(false);
  });

  test("[ID11] since when it is idle, when it is due and what is pinned, as the last record says", () => {
    const checked: Said = ["idle-checked", { idleMs: 300_000, delayMs: 60_000, guardDeferred: true, reason: "turn" }];
    expect(fold(["idle-started", { idleMs: 0 }]).idle.since).toEqual({
      at: at(1),
      idleMs: 0,
      delayMs: null,
      guardDeferred: false,
      reason: "",
    });
    expect(fold(["idle-started", { idleMs: 0 }], checked).idle.since).toEqual({
      at: at(2),
      idleMs: 300_000,
      delayMs: 60_000,
      guardDeferred: true,
      reason: "turn",
    });
    expect(fold(checked, ["idle-ended"]).idle.since).toBeUndefined();
    expect(fold(checked, ["idle-stopped", { reason: "late", at: "then" }]).idle).toEqual({
      pins: [],
      stopped: { reason: "late", at: "then" },
    });
  });

  test("[ID11] pins by hand replace each other, one per detached prompt stands beside them, none outlives unpin or close", () => {
    const all: Said[] = [
      ["pinned", { forMs: 10 }],
      ["pinned", { forMs: 5, promptId: "p" }],
      ["pinned", { forMs: null }],
    ];
    expect(fold(...all).idle.pins).toEqual([
      { at: at(2), forMs: 5, promptId: "p" },
      { at: at(3), forMs: null },
    ]);
    expect(fold(...all, ["unpinned"]).idle.pins).toEqual([]);
    expect(fold(...all, ["session-closed"]).idle.pins).toEqual([]);
  });
});

function anything(dice: Dice): Said {
  const promptId = `p${dice.whole(1, 6)}`;
  const permissionId = `r:${dice.whole(1, 4)}`;
  const source = { run: `r${dice.whole(1, 3)}`, offset: dice.whole(-1, 9_999) };
  const toolCallId = `t${dice.whole(1, 3)}`;
  return dice.pick<() => Said>([
    () => ["session-created", { agent: "a", cwd: "/w" }],
    () => ["session-opened", { acpSessionId: `s${dice.whole(1, 3)}` }, source],
    () => ["restoring", {}],
    () => ["restored", { how: "load" }, source],
    () => ["context-lost", {}],
    () => ["agent-exited", { code: 1 }],
    () => prompt(promptId),
    () => ["turn-started", { promptId }, source],
    () => ["withdrawn", { promptId }],
    () => ["turn-ended", { promptId, stopReason: "end_turn" }],
    () => ["permission-requested", { permissionId, toolCall: { toolCallId }, options: [{ optionId: "y" }] }],
    () => ["permission-resolved", { permissionId, outcome: "selected", optionId: "y", by: "c" }],
    () => [
      "update",
      { update: { toolCallId, status: dice.pick(["pending", "completed", null, "in_progress"]) } },
      source,
    ],
    () => ["update", { update: { sessionUpdate: "current_mode_update", modeId: `m${dice.whole(1, 3)}` } }, source],
    () => ["update", { update: "nothing" }, source],
    () => [
      "update",
      { update: { sessionUpdate: "config_option_update", configOptions: [{ id: "o", currentValue: true }] } },
    ],
    () => ["idle-started", { idleMs: 0, guardDeferred: dice.chance(0.5) }],
    () => [
      "idle-checked",
      { idleMs: dice.whole(0, 9_999), delayMs: dice.whole(0, 99), guardDeferred: true, reason: "x" },
    ],
    () => ["idle-ended", {}],
    () => ["idle-stopped", { reason: "late", at: at(1) }],
    () => ["pinned", { forMs: dice.pick([null, 1_000]), ...(dice.chance(0.5) ? { promptId } : {}) }],
    () => ["unpinned", {}],
    () => ["session-closed", {}],
    () => ["records-lost", { count: 3 }],
  ])();
}

test("[KP4] 300 journals, each cut at every place: folded on from a fold that lay on disk they come to the same", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const dice = createDice(seed);
    const all = records(Array.from({ length: dice.whole(1, 60) }, () => anything(dice)));
    const whole = JSON.stringify(foldOf(all));
    for (let cut = 0; cut <= all.length; cut++) {
      const kept = JSON.parse(JSON.stringify(foldOf(all.slice(0, cut)))) as SessionFold;
      expect({ seed, cut, fold: JSON.parse(JSON.stringify(foldOf(all.slice(cut), kept))) }).toEqual({
        seed,
        cut,
        fold: JSON.parse(whole),
      });
    }
  }
});
