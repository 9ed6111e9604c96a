// Does a pin keep what it should, for as long as it should?
import { expect, test } from "bun:test";
import { HOUR, type IdleWorld, MINUTE, openIdleWorld, SECOND } from "./idle-world.ts";

const stopped = (world: IdleWorld) => world.record("idle-stopped")?.data;
const keep = (world: IdleWorld, forMs: number | null) => world.ask("bob", { verb: "keep", session: "work", forMs });

function leftFinished(): IdleWorld {
  const world = openIdleWorld();
  world.prompt("one");
  world.attach();
  world.finish("one");
  world.leave();
  return world;
}

test("[GD6] a pinned session stays, past every limit", () => {
  const world = leftFinished();
  expect(keep(world, null)).toMatchObject({ idle: { verdict: "kept", reason: "kept: pinned", capInMs: null } });
  world.machine.advance(72 * HOUR);
  expect([stopped(world), world.agents.running.length]).toEqual([undefined, 1]);
});

test("[GD6] a pin for two hours stays two hours, and not a moment longer", () => {
  const world = leftFinished();
  world.machine.advance(MINUTE);
  keep(world, 2 * HOUR);
  expect(world.idle().reason).toBe("kept: pinned for 2 h");
  world.machine.advance(2 * HOUR);
  expect(stopped(world)).toBeUndefined();
  world.machine.advance(1);
  expect(stopped(world)).toMatchObject({ idleMs: 2 * HOUR + MINUTE + 1 });
});

test("[GD6] a pin shorter than the cap ends in a grace", () => {
  const world = leftFinished();
  keep(world, 10 * MINUTE);
  world.machine.advance(10 * MINUTE + SECOND);
  expect(world.idle().reason).toBe("stops in 5 m: grace after pin");
  world.machine.advance(5 * MINUTE);
  expect(stopped(world)).toBeDefined();
});

test("[GD6] without its pin it has the usual limits again: a grace, and the cap", () => {
  const early = leftFinished();
  keep(early, null);
  early.machine.advance(20 * MINUTE);
  keep(early, 0);
  expect(early.idle().reason).toBe("stops in 5 m: grace after pin");
  early.machine.advance(5 * MINUTE);
  expect(stopped(early)).toBeDefined();

  const late = leftFinished();
  keep(late, null);
  late.machine.advance(20 * HOUR);
  keep(late, 0);
  late.machine.advance(0);
  expect(stopped(late)).toMatchObject({ reason: "idle for more than 30 m, the longest allowed" });
});

test("[GD6] a session without clients for a minute is not stopped because its pin is taken away", () => {
  const world = leftFinished();
  world.machine.advance(MINUTE);
  keep(world, HOUR);
  keep(world, 0);
  world.machine.advance(4 * MINUTE);
  expect(stopped(world)).toBeUndefined();
  world.machine.advance(2 * MINUTE);
  expect(stopped(world)).toBeDefined();
});

test("[GD6] pins stand in the journal", () => {
  const world = leftFinished();
  keep(world, HOUR);
  keep(world, 0);
  const pins = world.records().filter(({ type }) => type.endsWith("pinned"));
  expect(pins.map(({ type, data }) => [type, data["forMs"]])).toEqual([
    ["pinned", HOUR],
    ["unpinned", 0],
  ]);
});

test("[GD6] a pin of one that does not exist is an error", () => {
  const world = openIdleWorld();
  expect(() => keep(world, null)).toThrow('There is no agent session "work"');
});

test("[GD6] a detached prompt is pinned until its turn has ended: a turn of hours, even a silent one, is kept", () => {
  const world = openIdleWorld();
  world.prompt("long", { detach: true });
  world.machine.advance(3 * HOUR);
  expect(stopped(world)).toBeUndefined();
  expect(world.idle().reason).toBe("kept: pinned until its turn has ended; stalled: no output for 3 h");
  world.finish("long");
  world.machine.advance(0);
  expect(stopped(world)).toMatchObject({ reason: "idle for more than 30 m, the longest allowed" });
});

test("[GD6] a detached prompt whose turn ends within the cap leaves a grace", () => {
  const world = openIdleWorld();
  world.prompt("short", { detach: true });
  world.machine.advance(8 * MINUTE);
  world.finish("short");
  expect(world.idle().reason).toBe("stops in 5 m: grace after turn");
});

test("[GD6] two detached prompts: pinned until the last has ended", () => {
  const world = openIdleWorld();
  world.prompt("one", { detach: true });
  world.prompt("two", { detach: true });
  world.machine.advance(HOUR);
  world.finish("one");
  world.machine.advance(HOUR);
  expect(stopped(world)).toBeUndefined();
  world.finish("two");
  world.machine.advance(SECOND);
  expect(stopped(world)).toBeDefined();
});

test("[GD6] of two pins the longer holds", () => {
  const world = openIdleWorld();
  world.prompt("endless", { detach: true });
  keep(world, 30 * HOUR);
  world.machine.advance(25 * HOUR);
  expect(stopped(world)).toBeUndefined();
  world.machine.advance(6 * HOUR);
  expect(stopped(world)).toBeDefined();
});

test("[GD6] a detached prompt that is asked for again after its end pins nothing", () => {
  const world = openIdleWorld();
  world.prompt("one", { detach: true });
  world.finish("one");
  world.prompt("one", { detach: true });
  expect(world.records().filter(({ type }) => type === "pinned")).toHaveLength(1);
  expect(world.idle().verdict).toBe("stops");
});

test("[GD6] 24 hours at most", () => {
  const world = openIdleWorld();
  world.prompt("endless", { detach: true });
  world.machine.advance(24 * HOUR);
  expect(stopped(world)).toBeUndefined();
  world.machine.advance(1);
  expect(stopped(world)).toBeDefined();
});

test("[GD6] a detached prompt that was withdrawn pins nothing", () => {
  const world = openIdleWorld();
  world.prompt("one");
  world.prompt("two", { detach: true });
  world.ask("ann", { verb: "withdraw", session: "work", promptId: "prompt two" });
  world.machine.advance(11 * MINUTE);
  expect(stopped(world)).toMatchObject({ reason: expect.stringContaining("stalled") });
});
