// Do frames keep their order, and do they wait no longer than one turn?
import { describe, expect, test } from "bun:test";
import { createBatch } from "../../src/platform/batch.ts";

function setUp() {
  const written: string[] = [];
  const turnEnds: (() => void)[] = [];
  let corks = 0;
  const batch = createBatch(
    (text) => written.push(text),
    (run) => {
      corks++;
      run();
    },
    (run) => turnEnds.push(run),
  );
  const endTurn = (): void => {
    for (const run of turnEnds.splice(0)) run();
  };
  return { batch, written, endTurn, corks: () => corks };
}

describe("a batch", () => {
  test("the first frame of a turn leaves at once, the others together at its end", () => {
    const { batch, written, endTurn, corks } = setUp();
    for (const text of ["1", "2", "3"]) batch.push(text);
    expect(written).toEqual(["1"]);
    endTurn();
    expect(written).toEqual(["1", "2", "3"]);
    expect(corks()).toBe(1);
    batch.push("4");
    expect(written.at(-1)).toBe("4");
    endTurn();
    expect(corks()).toBe(1);
  });

  test("a flush writes what waits, in order, and what comes later in the turn comes after it", () => {
    const { batch, written, endTurn } = setUp();
    for (const text of ["1", "2"]) batch.push(text);
    batch.flush();
    expect(written).toEqual(["1", "2"]);
    batch.push("3");
    endTurn();
    expect(written).toEqual(["1", "2", "3"]);
  });

  test("[LI2] no more than some kilobytes wait here: the queue with the limit is the next one", () => {
    const { batch, written } = setUp();
    const large = "x".repeat(10_000);
    for (let frame = 0; frame < 5; frame++) batch.push(large);
    expect(written.length).toBe(5);
  });

  test("what is pushed while frames are written comes after them", () => {
    const { written, turnEnds, push } = nested();
    push("1");
    push("2");
    push("3");
    for (let turn = 0; turn < 3; turn++) for (const run of turnEnds.splice(0)) run();
    expect(written).toEqual(["1", "2", "3", "answer to 2"]);
  });
});

function nested() {
  const written: string[] = [];
  const turnEnds: (() => void)[] = [];
  const batch = createBatch(
    (text) => {
      written.push(text);
      if (text === "2") batch.push("answer to 2");
    },
    (run) => run(),
    (run) => turnEnds.push(run),
  );
  return { written, turnEnds, push: batch.push };
}
