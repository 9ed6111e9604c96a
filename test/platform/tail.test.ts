// Is everything told that another process appends to a file? In order, once, soon; and offsets stay when room is given back.
import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { systemClock } from "../../src/platform/clock.ts";
import { freeBytes, punchHole } from "../../src/platform/disk.ts";
import { tailFile } from "../../src/platform/tail.ts";
import { createDice } from "../support/dice.ts";
import { createTempDir } from "../support/temp-dir.ts";

const LINES = 100_000;
const WRITER = `
  import { appendFileSync } from "node:fs";
  const [path, seed] = process.argv.slice(-2);
  let state = Number(seed);
  const roll = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let line = 0; line < ${LINES}; ) {
    let text = "";
    for (let burst = Math.floor(roll() * 400); burst >= 0 && line < ${LINES}; burst--) text += "line " + line++ + "\\n";
    const cut = Math.floor(roll() * text.length);
    appendFileSync(path, text.slice(0, cut));
    appendFileSync(path, text.slice(cut));
    if (roll() < 0.2) await Bun.sleep(roll() * 6);
  }
`;

async function until(holds: () => boolean, limitMs = 30_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Not so after ${limitMs} ms: ${holds}`);
    await Bun.sleep(1);
  }
}

describe("a tail", () => {
  test("[KP1] misses nothing of 100,000 lines that come in bursts, cut anywhere", async () => {
    using directory = createTempDir();
    const path = directory.at("out");
    writeFileSync(path, "");
    writeFileSync(directory.at("writer.ts"), WRITER);
    const decoder = new TextDecoder();
    let text = "";
    const tail = tailFile(systemClock, path, 0, (bytes) => {
      text += decoder.decode(bytes, { stream: true });
    });
    const writer = Bun.spawn([process.execPath, directory.at("writer.ts"), path, "7"]);
    expect(await writer.exited).toBe(0);
    const { size } = statSync(path);
    await until(() => tail.offset >= size);
    tail.stop();
    expect(text === readFileSync(path, "utf8")).toBe(true);
    expect(text.split("\n").length).toBe(LINES + 1);
  });

  test("[KP2] single lines are told within a few milliseconds, as a rule", async () => {
    using directory = createTempDir();
    const path = directory.at("out");
    writeFileSync(path, "");
    let told = 0;
    const tail = tailFile(systemClock, path, 0, (bytes) => {
      told += bytes.length;
    });
    const took: number[] = [];
    const dice = createDice(3);
    for (let line = 1; line <= 60; line++) {
      await Bun.sleep(dice.between(0, 8));
      const since = performance.now();
      appendFileSync(path, "12345678\n");
      while (told < line * 9) await Bun.sleep(0);
      took.push(performance.now() - since);
    }
    tail.stop();
    // By the look every 100 ms alone it would be 25 ms at the quartile; beside other work some are late.
    expect(took.toSorted((one, other) => one - other)[10]).toBeLessThan(10);
  });

  test("[KP4] begins at an offset, tells the rest when it is drained, and nothing when it is stopped", async () => {
    using directory = createTempDir();
    const path = directory.at("out");
    writeFileSync(path, "old\nnew\n");
    const told: string[] = [];
    const tail = tailFile(systemClock, path, 4, (bytes) => void told.push(Buffer.from(bytes).toString()));
    expect(told).toEqual([]);
    tail.drain();
    expect([told.splice(0), tail.offset]).toEqual([["new\n"], 8]);
    appendFileSync(path, "more\n");
    tail.drain();
    tail.drain();
    expect(told.join("")).toBe("more\n");
    tail.stop();
    tail.stop();
    appendFileSync(path, "never\n");
    tail.drain();
    await Bun.sleep(250);
    expect(told.join("")).toBe("more\n");
  });

  test("[KP1] who stops it while being told is told nothing more", async () => {
    using directory = createTempDir();
    const path = directory.at("out");
    writeFileSync(path, "x".repeat(1024 * 1024));
    let told = 0;
    const tail = tailFile(systemClock, path, 0, () => {
      told++;
      tail.stop();
    });
    await Bun.sleep(250);
    expect(told).toBe(1);
  });
});

describe("room", () => {
  test("[KP9] a hole is punched in front: offsets stay, others go on appending, and the room is free", async () => {
    using directory = createTempDir();
    const path = directory.at("out");
    const mib = 1024 * 1024;
    writeFileSync(path, Buffer.alloc(8 * mib, "x"));
    const before = statSync(path);
    const punched = await punchHole(path, 6 * mib + 17);
    if (!punched) return;
    appendFileSync(path, "tail\n");
    const after = statSync(path);
    expect(after.size).toBe(8 * mib + 5);
    expect(after.blocks * 512).toBeLessThanOrEqual(before.blocks * 512 - 5 * mib);
    const bytes = readFileSync(path);
    expect([bytes[0], bytes[6 * mib + 16], bytes[6 * mib + 17], bytes.toString("utf8", 8 * mib)]).toEqual([
      0,
      0,
      "x".charCodeAt(0),
      "tail\n",
    ]);
  });

  test("[KP9] free room is told where there is a disk, and is no limit where there is none", () => {
    using directory = createTempDir();
    expect(freeBytes(directory.path)).toBeGreaterThan(0);
    expect(freeBytes(directory.at("nothing"))).toBe(Number.POSITIVE_INFINITY);
  });
});
