// Does a keeper know how long its agent may stay without a host? It is told whenever that is another time.
import { describe, expect, test } from "bun:test";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { END_TURN, type KeptOptions, type KeptWorld, keptMidTurn } from "./kept-world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CAP = DEFAULT_SETTINGS.idle.maxIdleMs;

const capped = (maxIdleMs: number): KeptOptions => ({
  deps: { idleLimits: () => ({ ...DEFAULT_SETTINGS.idle, maxIdleMs }) },
});
const keep = (world: KeptWorld, forMs: number | null, session = "work"): void => {
  world.client("bob").done({ verb: "keep", session, forMs });
  world.machine.advance(1);
};
const end = ({ agent, machine }: KeptWorld): void => {
  agent.answer("session/prompt", END_TURN);
  machine.advance(1);
};
function openAtRest(options: KeptOptions = {}): KeptWorld {
  const { world } = keptMidTurn(options);
  end(world);
  return world;
}
/** Its host is killed: so many whole minutes the agent stays. */
function minutesAlone(world: KeptWorld): number {
  const { machine, process, agent } = world;
  process.kill();
  for (let minutes = 0; minutes <= (2 * DAY) / MINUTE; minutes++) {
    machine.advance(MINUTE);
    if (!agent.alive) return minutes;
  }
  return Number.POSITIVE_INFINITY;
}

describe("what the keeper is told", () => {
  test("[KP7] the cap at first, then how far each pin reaches, a day for one without an end, and the cap again without it; nothing twice", () => {
    const world = openAtRest();
    expect(world.keep.lingers).toEqual([CAP]);
    keep(world, 2 * HOUR);
    keep(world, null);
    keep(world, null);
    keep(world, 0);
    keep(world, 0);
    keep(world, MINUTE);
    keep(world, 3 * DAY);
    expect(world.keep.lingers).toEqual([CAP, 2 * HOUR, DAY, CAP, DAY]);
  });

  test("[KP7] what is left of a pin, when something happens meanwhile", () => {
    const world = openAtRest();
    keep(world, 2 * HOUR);
    world.machine.advance(HOUR);
    world.client("ann").prompt("second", { session: "work" });
    world.machine.advance(50);
    end(world);
    expect(world.keep.lingers.at(-1)).toBeLessThan(HOUR);
    expect(world.keep.lingers.at(-1)).toBeGreaterThan(HOUR - MINUTE);
  });

  test("[KP7] a day while a detached prompt runs or waits in the queue, and the cap when it has ended", () => {
    const { world, viewer } = keptMidTurn();
    viewer.prompt("queued", { session: "work", detach: true });
    world.machine.advance(1);
    expect(world.keep.lingers).toEqual([CAP, DAY]);
    end(world);
    world.machine.advance(50);
    end(world);
    expect([world.of("turn-ended").length, world.keep.lingers.at(-1)]).toEqual([2, CAP]);
  });

  test("[KP7] the farthest pin of all the agent's sessions counts, and a session that is closed has none", () => {
    const world = openAtRest();
    world.client("bob").prompt("first", { session: "other" });
    world.machine.advance(50);
    end(world);
    keep(world, 3 * HOUR, "other");
    keep(world, 2 * HOUR);
    world.client("bob").done({ verb: "close", session: "other" });
    world.machine.advance(50);
    const told = world.keep.lingers.map((ms) => Math.ceil(ms / MINUTE));
    expect([told[0], told[1], told.at(-1)]).toEqual([CAP / MINUTE, 180, 120]);
    world.client("bob").done({ verb: "close", session: "work" });
    world.machine.advance(50);
    expect(world.keep.lingers.at(-1)).toBe(CAP);
  });

  test("[KP7] a day where there is no cap, pinned or not", () => {
    const world = openAtRest(capped(0));
    keep(world, 2 * HOUR);
    keep(world, 0);
    expect(world.keep.lingers).toEqual([DAY]);
  });

  test("[KP7] [KP6] a keeper in the place of one that was killed is told too, also what changed while there was none", () => {
    const world = openAtRest();
    keep(world, null);
    world.keep.keepers.at(-1)?.kill();
    world.machine.advance(200);
    expect(world.keep.lingers).toEqual([CAP, DAY, DAY]);
    world.keep.keepers.at(-1)?.kill();
    keep(world, 0);
    world.machine.advance(200);
    expect(world.keep.lingers).toEqual([CAP, DAY, DAY, CAP]);
  });

  test("[KP7] [AM4] so is the keeper of an agent that died and was started again", () => {
    const world = openAtRest();
    keep(world, null);
    world.agent.exit(1);
    world.machine.until(() => world.keep.agents.all.length === 2);
    world.machine.advance(200);
    expect(world.keep.lingers).toEqual([CAP, DAY, DAY]);
  });

  test("[KP7] [KP4] the next host tells what the pins of the last one say", () => {
    const world = openAtRest();
    keep(world, null);
    world.takeover();
    expect(world.keep.lingers).toEqual([CAP, DAY, DAY]);
  });
});

describe("an agent without a host", () => {
  test.each([
    ["the cap", {}, undefined, CAP],
    ["another cap", capped(10 * MINUTE), undefined, 10 * MINUTE],
    ["a day where there is no cap", capped(0), undefined, DAY],
    ["as long as its pin reaches", {}, 2 * HOUR, 2 * HOUR],
    ["no longer than the cap for a pin that is shorter", {}, MINUTE, CAP],
    ["a day for a pin without an end", {}, null, DAY],
  ])("[KP7] stays for %s", (_, options: KeptOptions, pin: number | null | undefined, ms) => {
    const world = openAtRest(options);
    if (pin !== undefined) keep(world, pin);
    expect(minutesAlone(world)).toBe(ms / MINUTE);
  });

  test("[KP7] stays for the cap when its pin was taken back before", () => {
    const world = openAtRest();
    keep(world, null);
    keep(world, 0);
    expect(minutesAlone(world)).toBe(CAP / MINUTE);
  });
});
