// Is what a process left judged by the processes that we see? Only where it ran where we run.
import { expect, test } from "bun:test";
import { type Origin, originOf } from "../../src/core/whereabouts.ts";
import type { Whereabouts } from "../../src/protocol/whereabouts.ts";

const HERE: Whereabouts = { id: "a", machine: "m1 one", host: "one", boot: "b1", pids: "pid:[1]", net: "net:[1]" };

test.each([
  ["where we are", {}, "here"],
  ["another network namespace, which has a port of its own", { net: "net:[2]" }, "elsewhere"],
  ["another namespace of processes, in which numbers are others", { pids: "pid:[2]" }, "elsewhere"],
  [
    "this machine before it was started anew, whatever its namespaces were called",
    { boot: "b0", net: "net:[9]" },
    "gone",
  ],
  ["another machine", { machine: "m2 two", boot: "b2" }, "elsewhere"],
  ["a copy of this machine, with the same id and another name", { machine: "m1 two", boot: "b2" }, "elsewhere"],
] as [string, Partial<Whereabouts>, Origin][])("[KP13] %s", (_, other, origin) => {
  expect(originOf({ ...HERE, ...other }, HERE)).toBe(origin);
});

test("[KP13] [KP10] what has no mark is ours, and so is everything where the system tells none", () => {
  expect([originOf(undefined, HERE), originOf(HERE, undefined), originOf(undefined, undefined)]).toEqual([
    "here",
    "here",
    "here",
  ]);
});
