// Which sessions does a starting agent get back? The one that is asked for, and those that somebody waits for.
import { expect, test } from "bun:test";
import { END_TURN, openService, type ServiceWorld } from "./service-world.ts";

const NAMES = Array.from({ length: 9 }, (_, index) => `session-${index + 1}`);

/** Nine sessions, each with a finished turn, and nobody there. */
function nine(): ServiceWorld {
  const world = openService({ replies: { "session/prompt": () => END_TURN } });
  const { machine, client, agents } = world;
  const ann = client("ann");
  for (const [index, name] of NAMES.entries()) {
    ann.prompt("first", { session: name });
    machine.until(() => agents.latest.asked("session/prompt").length === index + 1);
  }
  machine.advance(10);
  return world;
}

/** Ends its process; the manager starts the next one by itself. */
function restart({ agents, machine }: ServiceWorld): void {
  const before = agents.all.length;
  agents.latest.exit(1);
  machine.until(() => agents.all.length > before && agents.latest.asked("initialize").length === 1);
  machine.advance(1_000);
}

const resumed = ({ agents }: ServiceWorld) => agents.latest.asked("session/resume").length;

test("[SE8] nobody waits for any of nine sessions: none is restored, and a prompt restores its own", () => {
  const world = nine();
  restart(world);
  expect(resumed(world)).toBe(0);
  world.client("ann").prompt("second", { session: "session-4" });
  world.machine.advance(1_000);
  expect([resumed(world), world.agents.latest.asked("session/prompt").length]).toEqual([1, 1]);
});

test("[SE8] the first prompt of a host for one of nine sessions restores that one", () => {
  const world = nine();
  world.process.kill();
  const next = world.nextHost();
  next.client("ann").prompt("second", { session: "session-4" });
  next.machine.until(() => next.agents.latest.asked("session/prompt").length === 1);
  next.machine.advance(1_000);
  expect(next.agents.latest.heard.flatMap(({ method }) => method ?? [])).toEqual([
    "initialize",
    "session/resume",
    "session/prompt",
  ]);
});

test("[SE8] those with a viewer are restored at once", () => {
  const world = nine();
  world.client("bob").attach("session-2");
  world.client("cem").attach("session-7");
  restart(world);
  expect(resumed(world)).toBe(2);
});

test("[SE8] those with a queue are restored at once", () => {
  const world = nine();
  world.agents.options = { replies: {} };
  const ann = world.client("ann");
  ann.prompt("runs", { session: "session-3" });
  ann.prompt("waits", { session: "session-3" });
  restart(world);
  expect([resumed(world), world.agents.latest.asked("session/prompt").length]).toEqual([1, 1]);
});

test("[SE8] whoever attaches to one that its running agent does not have open gets it restored", () => {
  const world = nine();
  restart(world);
  world.client("bob").attach("session-5");
  world.machine.advance(1_000);
  expect(resumed(world)).toBe(1);
  world.client("cem").attach("session-5");
  world.machine.advance(1_000);
  expect(resumed(world)).toBe(1);
});
