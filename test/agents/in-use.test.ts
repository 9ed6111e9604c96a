// Does the next host know which sessions were in use? Whatever came and went, and when the disk was full.
import { describe, expect, test } from "bun:test";
import { createInUse } from "../../src/agents/in-use.ts";
import { createShelf } from "../../src/agents/shelf.ts";
import { createFakeFiles } from "../support/fake-files.ts";
import { createMachine } from "../support/fake-world.ts";

const PATH = "/s/in-use.log";

describe("sessions in use", () => {
  test("[SE3] [KP4] the next host finds those that came and did not go", () => {
    const files = createFakeFiles();
    const first = createInUse(files, "/s");
    expect(first.names()).toEqual([]);
    for (const name of ["a", "b", "c"]) first.came(name);
    first.came("a");
    first.went("b");
    first.went("never");
    const next = createInUse(files, "/s");
    expect(next.names()).toEqual(["a", "c"]);
    next.went("a");
    expect(createInUse(files, "/s").names()).toEqual(["c"]);
    expect(files.texts.get(PATH)).toBe("+a\n+b\n+c\n-b\n-a\n");
  });

  test("[SE3] what came and went thousands of times takes little room, and none of it is lost", () => {
    const files = createFakeFiles();
    const inUse = createInUse(files, "/s");
    inUse.came("stays");
    for (let time = 0; time < 30_000; time++) {
      inUse.came(`s${time}`);
      inUse.went(`s${time}`);
    }
    inUse.came("last");
    expect((files.texts.get(PATH) ?? "").split("\n").length).toBeLessThan(10_100);
    expect(createInUse(files, "/s").names()).toEqual(["stays", "last"]);
  });

  test("[SE3] a full disk keeps nobody from using a session, and what could not be written is written with the next", () => {
    const files = createFakeFiles();
    const inUse = createInUse(files, "/s");
    files.failWrites(1);
    inUse.came("a");
    inUse.came("b");
    expect(inUse.names()).toEqual(["a", "b"]);
    expect(createInUse(files, "/s").names()).toEqual(["a", "b"]);
  });

  test("[KP10] what an older build left is brought back too, and kept from then on as the rest", () => {
    const files = createFakeFiles();
    files.replace("/s/in-use.json", '["old","older"]');
    const older = () => createInUse(files, "/s", "in-use.log", "in-use.json");
    const first = older();
    expect(first.names()).toEqual(["old", "older"]);
    first.went("old");
    first.came("new");
    expect([older().names(), files.texts.has("/s/in-use.json")]).toEqual([["older", "new"], false]);
    files.replace("/s/in-use.json", "broken");
    expect(older().names()).toEqual(["older", "new"]);
  });

  test("[KP10] of what an older build left nothing is taken for a session that rests", () => {
    const files = createFakeFiles();
    files.replace("/s/in-use.json", '["old"]');
    const shelf = createShelf(createMachine().process().clock, files, "/s");
    expect([[...shelf.resting()], shelf.inUse.names()]).toEqual([[], ["old"]]);
  });
});
