// What becomes of what was said while the disk is full? It waits, in order, and is written when there is room.
import { describe, expect, test } from "bun:test";
import { openJournal } from "../../src/agents/journal.ts";
import { createScribe } from "../../src/agents/scribe.ts";
import { createMachine } from "../support/fake-world.ts";

const FOREVER = Number.POSITIVE_INFINITY;

function openScribe({ roomFor = FOREVER } = {}) {
  const machine = createMachine();
  const { clock } = machine.process();
  const { files } = machine;
  let [tries, room] = [0, roomFor];
  const file = files.journal("/a.ndjson");
  const append = (line: string): number => {
    tries++;
    // Full once in between, after so many lines.
    if (room === 0) {
      room = FOREVER;
      files.failWrites(1);
    }
    const offset = file.append(line);
    room--;
    return offset;
  };
  const journal = openJournal({ ...file, append }, () => clock.iso());
  let woken = 0;
  const scribe = createScribe(clock, journal, () => {
    woken++;
  });
  const written = () =>
    (files.texts.get("/a.ndjson") ?? "")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { seq: number; type: string; data: Record<string, unknown> });
  return { machine, files, journal, scribe, written, woken: () => woken, tries: () => tries };
}

describe("the scribe", () => {
  test("[SE3] writes at once, and wakes whoever waits for it", () => {
    const { scribe, written, woken } = openScribe();
    scribe.record("a", {});
    scribe.record("b", {});
    expect(written().map(({ seq, type }) => [seq, type])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
    expect(woken()).toBe(2);
    expect(() => scribe.mustWrite()).not.toThrow();
  });

  test("[SE3] a full disk is a clear error for who must write, and nothing is lost: all is written later, in order", () => {
    const { machine, files, scribe, written, woken } = openScribe();
    scribe.record("before", {});
    files.failWrites(FOREVER);
    for (let number = 0; number < 500; number++) scribe.record("update", { number });
    expect(written()).toHaveLength(1);
    expect(() => scribe.mustWrite()).toThrow("The session's journal cannot be written: ENOSPC");
    machine.advance(60_000);
    expect(() => scribe.mustWrite()).toThrow("make room and try again");
    files.failWrites(0);
    const wokenBefore = woken();
    machine.advance(1_000);
    expect(written().map(({ seq }) => seq)).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
    expect(written().map(({ data }) => data["number"])).toEqual([undefined, ...Array(500).keys()]);
    expect(woken()).toBeGreaterThan(wokenBefore);
    expect(() => scribe.mustWrite()).not.toThrow();
  });

  test("[SE3] where there is room for some of them, those are written once, and the rest later", () => {
    const { machine, files, journal, scribe, written } = openScribe({ roomFor: 2 });
    files.failWrites(1);
    for (const type of ["a", "b", "c", "d"]) scribe.record(type, {});
    machine.advance(1_000);
    expect(written().map(({ type }) => type)).toEqual(["a", "b"]);
    machine.advance(1_000);
    expect(written().map(({ seq, type }) => [seq, type])).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "c"],
      [4, "d"],
    ]);
    expect(journal.lastSeq).toBe(4);
  });

  test("[SE3] while the disk is full it is tried once a second, not at each of a thousand updates", () => {
    const { machine, files, scribe, tries } = openScribe();
    files.failWrites(FOREVER);
    for (let number = 0; number < 1_000; number++) scribe.record("x", {});
    expect(tries()).toBe(1);
    machine.advance(10_000);
    expect(tries()).toBe(11);
    scribe.end();
    machine.advance(10_000);
    expect(tries()).toBe(11);
  });

  test("[SE3] what is too much even to wait for is told as lost, never skipped in silence", () => {
    const { machine, files, scribe, written, woken } = openScribe();
    files.failWrites(1);
    for (let number = 0; number < 100_007; number++) scribe.record("x", {});
    machine.advance(1_000);
    const last = written().at(-1);
    expect(last).toMatchObject({ seq: 100_001, type: "records-lost", data: { count: 7 } });
    expect(woken()).toBe(1);
    scribe.record("after", {});
    expect(written().at(-1)).toMatchObject({ seq: 100_002, type: "after" });
  });

  test("[SE3] what must be written is written now, or refused and written never", () => {
    const { machine, files, scribe, written } = openScribe();
    scribe.mustRecord("prompt", { promptId: "one" });
    files.failWrites(1);
    expect(() => scribe.mustRecord("prompt", { promptId: "two" })).toThrow("ENOSPC");
    expect(() => scribe.mustRecord("prompt", { promptId: "three" })).toThrow("ENOSPC");
    machine.advance(10_000);
    scribe.mustRecord("prompt", { promptId: "four" });
    expect(written().map(({ data }) => data["promptId"])).toEqual(["one", "four"]);
  });
});
