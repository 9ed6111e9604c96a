// Who may keep an agent? One process at a time, whoever asks at the same instant, and never before the last is dead.
import { describe, expect, test } from "bun:test";
import { placeAt } from "../../src/keeper/place.ts";
import type { ProcessMark } from "../../src/platform/agent-world.ts";
import { systemFiles } from "../../src/platform/files.ts";
import { createFakeFiles } from "../support/fake-files.ts";
import { createTempDir } from "../support/temp-dir.ts";

const mark = (pid: number): ProcessMark => ({ pid, startTime: `${pid}` });

describe("turns", () => {
  test("[KP6] the first has it until it is dead, then the next", () => {
    using directory = createTempDir();
    const place = placeAt(systemFiles, directory.path);
    const dead = new Set<number>();
    const claim = (pid: number): boolean => place.claim(mark(pid), (other) => dead.has(other.pid));
    expect([claim(1), claim(2), claim(1)]).toEqual([true, false, true]);
    dead.add(1);
    expect([claim(3), claim(2)]).toEqual([true, false]);
    dead.add(3);
    dead.add(2);
    expect([claim(4), claim(5)]).toEqual([true, false]);
  });

  test("[KP6] a number that came back is not the one that had it", () => {
    const place = placeAt(createFakeFiles(), "/place");
    place.claim({ pid: 7, startTime: "then" }, () => false);
    const now = { pid: 7, startTime: "now" };
    expect(place.claim(now, ({ startTime }) => startTime !== "now")).toBe(true);
  });

  test("[KP6] [KP9] on a full disk there are none, and somebody must; any other trouble is an error", () => {
    const files = createFakeFiles();
    files.failWrites(1);
    expect(placeAt(files, "/place").claim(mark(1), () => false)).toBe(true);
    const broken = {
      ...files,
      createOnce() {
        throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
      },
    };
    expect(() => placeAt(broken, "/place").claim(mark(1), () => false)).toThrow("EMFILE");
  });
});
