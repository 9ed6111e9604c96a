// May these records be sent as one? Texts of one message in a row, and never across anything else.
import { describe, expect, test } from "bun:test";
import { mergeTexts } from "../../src/core/merge-texts.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { createDice, type Dice } from "../support/dice.ts";

const record = (seq: number, type: string, data: Record<string, unknown>): SessionRecord => ({
  seq,
  at: `t${seq}`,
  type,
  data,
});
const chunk = (seq: number, text: string, more: object = {}, kind = "agent_message_chunk"): SessionRecord =>
  record(seq, "update", { update: { sessionUpdate: kind, content: { type: "text", text }, ...more } });
const other = (seq: number): SessionRecord => record(seq, "update", { update: { sessionUpdate: "plan", entries: [] } });

const textOf = ({ data }: SessionRecord): string => {
  const { content } = data["update"] as { content?: { text?: string } };
  return content?.text ?? "";
};

describe("merged texts", () => {
  test("[SE5] texts in a row become one, with the first number as from and the last as seq", () => {
    expect(mergeTexts([chunk(3, "a"), chunk(4, "b"), chunk(5, "c")])).toEqual([
      { ...chunk(5, "abc"), from: 3, at: "t5" },
    ]);
  });

  test("[SE5] a text alone stays as it is, without a from", () => {
    const alone = chunk(3, "a");
    expect(mergeTexts([alone])).toEqual([alone]);
    expect(mergeTexts([])).toEqual([]);
  });

  test("[SE5] nothing is merged across another event", () => {
    const records = [chunk(1, "a"), other(2), chunk(3, "b"), record(4, "turn-ended", {}), chunk(5, "c")];
    expect(mergeTexts(records)).toEqual(records);
  });

  test("[SE5] words, thoughts and messages of other ids are not mixed", () => {
    const records = [
      chunk(1, "a"),
      chunk(2, "b", {}, "agent_thought_chunk"),
      chunk(3, "c", { messageId: "m1" }),
      chunk(4, "d", { messageId: "m2" }),
    ];
    expect(mergeTexts(records)).toEqual(records);
    expect(mergeTexts([chunk(1, "a", { messageId: "m" }), chunk(2, "b", { messageId: "m" })])).toHaveLength(1);
  });

  test("[SE5] [AC1] a text with anything more in it stays as it is", () => {
    const meta = [chunk(1, "a", { _meta: { x: 1 } }), chunk(2, "b", { _meta: { x: 2 } })];
    expect(mergeTexts(meta)).toEqual(meta);
    const content = { type: "text", text: "a", annotations: { audience: ["user"] } };
    const annotated = [1, 2].map((seq) =>
      record(seq, "update", { update: { sessionUpdate: "agent_message_chunk", content } }),
    );
    expect(mergeTexts(annotated)).toEqual(annotated);
  });

  test("[SE5] what was merged once and is merged again keeps the first number of all", () => {
    const [once] = mergeTexts([chunk(1, "a"), chunk(2, "b")]);
    if (!once) throw new Error("Nothing was merged");
    expect(mergeTexts([once, chunk(3, "c")])).toEqual([{ ...chunk(3, "abc"), from: 1 }]);
  });

  test("[SE5] one text grows to 64 Ki characters and no further", () => {
    const half = "x".repeat(40_000);
    expect(mergeTexts([chunk(1, half), chunk(2, half), chunk(3, "y")]).map(({ from, seq }) => [from, seq])).toEqual([
      [undefined, 1],
      [2, 3],
    ]);
  });

  const randomRecord = (dice: Dice, seq: number): SessionRecord => {
    const kind = dice.pick(["agent_message_chunk", "agent_message_chunk", "agent_thought_chunk"]);
    const more = dice.pick([{}, {}, { messageId: "m1" }, { _meta: 1 }]);
    return dice.chance(0.7) ? chunk(seq, dice.hex(dice.whole(0, 8)), more, kind) : other(seq);
  };

  test("[SE5] for random records: the numbers are covered once and in order, the text is the same, the input untouched", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const dice = createDice(seed);
      const records = Array.from({ length: 50 }, (_, index) => randomRecord(dice, index + 1));
      const before = JSON.stringify(records);
      const merged = mergeTexts(records);
      let next = 1;
      for (const each of merged) {
        expect(each.from ?? each.seq).toBe(next);
        next = each.seq + 1;
        const range = records.slice((each.from ?? each.seq) - 1, each.seq);
        expect(textOf(each)).toBe(range.map(textOf).join(""));
        if (each.from === undefined) expect(range).toEqual([each]);
        else
          expect(
            new Set(range.map(({ data }) => (data["update"] as { sessionUpdate: string }).sessionUpdate)).size,
          ).toBe(1);
      }
      expect(next).toBe(51);
      expect(JSON.stringify(records)).toBe(before);
    }
  });
});
