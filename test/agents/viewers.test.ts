// Does every viewer get everything, once and in order, however slow it is? And does nobody wait for anybody?
import { describe, expect, test } from "bun:test";
import { type Journal, openJournal } from "../../src/agents/journal.ts";
import { createViewers, type Viewers } from "../../src/agents/viewers.ts";
import { openJournalFile } from "../../src/platform/journal-file.ts";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { createFakeFiles } from "../support/fake-files.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { createVirtualTime } from "../support/virtual-time.ts";

const journalOf = (): Journal => openJournal(createFakeFiles().journal("/a"), () => "");
const chunk = (text: string) => ({
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
});

interface Watching {
  got: SessionRecord[];
  batches: number;
  acknowledge(): void;
}

function watch(viewers: Viewers, clientId: string, after = 0): Watching {
  const watching: Watching = {
    got: [],
    batches: 0,
    acknowledge: () => viewers.acknowledged(clientId, watching.got.at(-1)?.seq ?? after),
  };
  viewers.attach(clientId, after, (events) => {
    watching.batches++;
    watching.got.push(...events);
  });
  return watching;
}

/** Numbers that were covered, each as often as it was. */
const covered = (records: readonly SessionRecord[]): number[] =>
  records.flatMap(({ from, seq }) =>
    Array.from({ length: seq - (from ?? seq) + 1 }, (_, index) => (from ?? seq) + index),
  );
const oneTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const textOf = (records: readonly SessionRecord[]): string =>
  records
    .map(({ data }) => (data["update"] as { content?: { text: string } } | undefined)?.content?.text ?? "|")
    .join("");

describe("viewers", () => {
  test("[SE3] whoever attaches with a cursor gets everything behind it, once, then live", () => {
    const [journal, time] = [journalOf(), createVirtualTime()];
    const viewers = createViewers(journal);
    for (let number = 0; number < 10; number++) journal.append("x", { number });
    const viewer = watch(viewers, "a", 4);
    journal.append("x", {});
    viewers.wake();
    time.advance(0);
    expect(covered(viewer.got)).toEqual([5, 6, 7, 8, 9, 10, 11]);
  });

  test("[SE5] texts that came in one piece are sent as one, with from and seq, and never across another event", () => {
    const [journal, time] = [journalOf(), createVirtualTime()];
    const viewers = createViewers(journal);
    const viewer = watch(viewers, "a");
    for (const text of ["a", "b", "c"]) journal.append("update", chunk(text));
    journal.append("turn-ended", {});
    journal.append("update", chunk("d"));
    viewers.wake();
    viewers.wake();
    time.advance(0);
    expect(viewer.got.map(({ from, seq, type }) => [from, seq, type])).toEqual([
      [1, 3, "update"],
      [undefined, 4, "turn-ended"],
      [undefined, 5, "update"],
    ]);
    expect(viewer.batches).toBe(1);
  });

  test("[SE5] a viewer that acknowledges nothing is sent a window and no more, and gets the rest when it does", () => {
    const [journal, time] = [journalOf(), createVirtualTime()];
    const viewers = createViewers(journal);
    const stopped = watch(viewers, "stopped");
    const lively = watch(viewers, "lively");
    for (let number = 0; number < 30_000; number++) {
      journal.append("x", { number });
      viewers.wake();
      if (number % 100 === 0) time.advance(0);
      lively.acknowledge();
    }
    time.advance(0);
    expect(covered(lively.got)).toEqual(oneTo(30_000));
    expect(stopped.got.length).toBeLessThan(10_000);
    while (stopped.got.length < 30_000) {
      const before = stopped.got.length;
      stopped.acknowledge();
      expect(stopped.got.length).toBeGreaterThan(before);
    }
    expect(covered(stopped.got)).toEqual(oneTo(30_000));
  });

  test("[SE5] the window is one of bytes too: big records do not pile up in front of a stopped viewer", () => {
    using directory = createTempDir();
    const journal = openJournal(openJournalFile(directory.at("a.ndjson")), () => "");
    const [viewers, time] = [createViewers(journal), createVirtualTime()];
    const stopped = watch(viewers, "stopped");
    const lively = watch(viewers, "lively");
    const big = "x".repeat(100_000);
    for (let number = 0; number < 200; number++) {
      journal.append("x", { number, big });
      viewers.wake();
      time.advance(0);
      lively.acknowledge();
    }
    expect(covered(lively.got)).toEqual(oneTo(200));
    expect(JSON.stringify(stopped.got).length).toBeLessThan(8_000_000);
    while (stopped.got.length < 200) stopped.acknowledge();
    expect(covered(stopped.got)).toEqual(oneTo(200));
    journal.close();
  });

  test("[SE5] a record larger than the window is still sent, alone", () => {
    const [journal, time] = [journalOf(), createVirtualTime()];
    const viewers = createViewers(journal);
    const viewer = watch(viewers, "a");
    for (let number = 0; number < 3; number++) journal.append("x", { big: "x".repeat(12_000_000) });
    viewers.wake();
    time.advance(0);
    for (let round = 0; round < 3; round++) viewer.acknowledge();
    expect(covered(viewer.got)).toEqual([1, 2, 3]);
    expect(viewer.batches).toBe(3);
  });

  test("[SE5] acknowledgements of numbers that were never sent open nothing", () => {
    const [journal, time] = [journalOf(), createVirtualTime()];
    const viewers = createViewers(journal);
    const viewer = watch(viewers, "a");
    for (let number = 0; number < 20_000; number++) journal.append("x", {});
    viewers.wake();
    time.advance(0);
    const sent = viewer.got.length;
    for (const seq of [0, -5]) viewers.acknowledged("a", seq);
    viewers.acknowledged("nobody", 10);
    expect(viewer.got).toHaveLength(sent);
    viewers.acknowledged("a", 1_000_000);
    expect(viewer.got.length).toBeLessThanOrEqual(3 * sent);
  });

  test("[SE4] one that left gets nothing more, one that attaches again begins where it says", () => {
    const [journal, time] = [journalOf(), createVirtualTime()];
    const viewers = createViewers(journal);
    const first = watch(viewers, "a");
    const append = (): void => {
      journal.append("x", {});
      viewers.wake();
      time.advance(0);
    };
    append();
    expect([viewers.detach("a"), viewers.detach("a"), viewers.size]).toEqual([true, false, 0]);
    append();
    const again = watch(viewers, "a", 1);
    append();
    expect([covered(first.got), covered(again.got)]).toEqual([[1], [2, 3]]);
  });
});

describe("for random events and random acknowledgements", () => {
  const randomRecord = (dice: Dice, journal: Journal, number: number): void => {
    if (dice.chance(0.75)) journal.append("update", chunk(`${number} `));
    else journal.append(dice.pick(["prompt", "turn-ended", "permission-requested"]), { number });
  };

  test("[SE5] every viewer's text and order of events are those of the journal, from its own cursor on", () => {
    for (let seed = 1; seed <= 150; seed++) {
      const dice = createDice(seed);
      const [journal, time] = [journalOf(), createVirtualTime()];
      const viewers = createViewers(journal);
      const watching = new Map<string, { after: number; viewer: Watching }>();
      for (let number = 0; number < 400; number++) {
        randomRecord(dice, journal, number);
        viewers.wake();
        if (dice.chance(0.3)) time.advance(0);
        if (dice.chance(0.01)) {
          const after = dice.whole(0, journal.lastSeq);
          watching.set(`v${number}`, { after, viewer: watch(viewers, `v${number}`, after) });
        }
        for (const { viewer } of watching.values()) if (dice.chance(0.05)) viewer.acknowledge();
      }
      time.advance(0);
      const all = journal.read(0, Number.POSITIVE_INFINITY);
      expect(all).toHaveLength(400);
      for (const { after, viewer } of watching.values()) {
        expect(covered(viewer.got)).toEqual(oneTo(400).slice(after));
        expect(textOf(viewer.got)).toBe(textOf(all.slice(after)));
        const others = (records: readonly SessionRecord[]) => records.filter(({ type }) => type !== "update");
        expect(others(viewer.got)).toEqual(others(all.slice(after)));
      }
    }
  });
});
