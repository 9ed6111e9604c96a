// Does the ring keep the right entries?
import { describe, expect, test } from "bun:test";
import { createLogBuffer } from "../../src/plugin/log-buffer.ts";

const filled = (count: number, levels = ["Print"]) => {
  const buffer = createLogBuffer();
  for (let index = 0; index < count; index += 1) {
    buffer.add({ level: levels[index % levels.length] ?? "Print", body: `line ${index}`, timestamp: index });
  }
  return buffer;
};
const bodies = (page: { entries: { body: string }[] }) => page.entries.map(({ body }) => body);

describe("the log buffer", () => {
  test("is empty at first and says how much it can hold", () => {
    expect(createLogBuffer().query()).toEqual({ entries: [], total: 0, bufferCapacity: 1000 });
  });

  test("gives the newest fifty, oldest of them first, unless told otherwise", () => {
    const page = filled(60).query();
    expect(page.entries).toHaveLength(50);
    expect(page.total).toBe(60);
    expect([page.entries[0]?.body, page.entries[49]?.body]).toEqual(["line 10", "line 59"]);
  });

  test("gives the oldest for the direction head", () => {
    expect(bodies(filled(60).query({ count: 2, direction: "head" }))).toEqual(["line 0", "line 1"]);
  });

  test("forgets the oldest when a thousand are held, and counts them", () => {
    const buffer = filled(2503);
    expect(buffer.query().total).toBe(1000);
    expect(buffer.dropped).toBe(1503);
    expect(bodies(buffer.query({ count: 2, direction: "head" }))).toEqual(["line 1503", "line 1504"]);
    expect(bodies(buffer.query({ count: 1 }))).toEqual(["line 2502"]);
    expect(buffer.query({ count: 5000 }).entries).toHaveLength(1000);
  });

  test("counts only the wanted levels towards the count", () => {
    const buffer = filled(9, ["Print", "Warning", "Error"]);
    expect(bodies(buffer.query({ count: 2, levels: ["Error"] }))).toEqual(["line 5", "line 8"]);
    expect(buffer.query({ levels: ["Error", "Warning"] }).entries).toHaveLength(6);
    expect(buffer.query({ levels: [] }).entries).toEqual([]);
    expect(buffer.query({ count: 0 }).entries).toEqual([]);
  });

  test("gives way to big bodies before a frame is too small for them, yet keeps the newest whatever its size", () => {
    const buffer = createLogBuffer(1000, 100);
    for (const body of ["a".repeat(60), "b".repeat(60), "ü".repeat(20)])
      buffer.add({ level: "Print", body, timestamp: 0 });
    expect(bodies(buffer.query())).toEqual(["ü".repeat(20)]);
    buffer.add({ level: "Print", body: "c".repeat(500), timestamp: 0 });
    expect(bodies(buffer.query())).toEqual(["c".repeat(500)]);
    buffer.add({ level: "Print", body: "d", timestamp: 0 });
    expect(bodies(buffer.query())).toEqual(["d"]);
    expect(buffer.dropped).toBe(4);
    buffer.add({ level: "Print", body: "e", timestamp: 0 });
    expect(bodies(buffer.query())).toEqual(["d", "e"]);
  });
});
