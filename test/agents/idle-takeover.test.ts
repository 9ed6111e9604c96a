// Does the next host reach the verdict that the last one would have reached? At the same time, by the same reason.
import { describe, expect, test } from "bun:test";
import type { SessionRecord } from "../../src/protocol/agents.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { createDice } from "../support/dice.ts";
import { HOUR, MINUTE, SECOND } from "./idle-world.ts";
import { END_TURN, type KeptWorld, openKept } from "./kept-world.ts";

interface Story {
  /** What happens, and after how long. */
  steps: [afterMs: number, what: (world: KeptWorld) => void][];
  forMs?: number;
}

const prompt =
  (text: string, more: { detach?: boolean } = {}) =>
  (world: KeptWorld): void => {
    world.client("ann").prompt(text, { session: "work", ...more });
    world.machine.until(() => world.keep.held.length > 0 && world.agent.asked("session/prompt").length > 0);
  };
const attach = (world: KeptWorld): void => world.client("ann").attach("work");
const leave = (world: KeptWorld): void => world.client("ann").leave();
const keep =
  (forMs: number | null) =>
  (world: KeptWorld): void =>
    void world.client("ann").done({ verb: "keep", session: "work", forMs });
const finish = (world: KeptWorld): void => {
  world.agent.answer("session/prompt", END_TURN);
  world.machine.advance(1);
};
const say = (world: KeptWorld): void => {
  const params = world.agent.asked("session/prompt").at(-1)?.params ?? {};
  world.agent.text(String(params["sessionId"]), "word");
  world.machine.advance(1);
};

const LONG_MS = 2 * HOUR;

/** When it was stopped, and why; the host dies at these times of the story. */
function tell({ steps, forMs = LONG_MS }: Story, deathsAtMs: readonly number[]) {
  let world = openKept();
  const { machine } = world;
  const from = machine.now;
  const events = [
    ...steps.reduce<{ at: number; run(): void }[]>((all, [afterMs, what]) => {
      const at = (all.at(-1)?.at ?? 0) + afterMs;
      all.push({ at, run: () => what(world) });
      return all;
    }, []),
    ...deathsAtMs.map((at) => ({
      at,
      run() {
        world.process.kill();
        world = world.nextHost();
        machine.wait(world.client("probe").ask({ verb: "sessions" }));
      },
    })),
  ].toSorted((one, other) => one.at - other.at);
  for (const { at, run } of events) {
    machine.advance(Math.max(0, from + at - machine.now));
    run();
  }
  machine.advance(Math.max(0, from + forMs - machine.now));
  const stopped = world.of("idle-stopped")[0];
  const last = world.journal("work").at(-1) as SessionRecord;
  return {
    world,
    stopped: stopped && { reason: stopped.data["reason"], atMs: Date.parse(stopped.at) - Date.UTC(2030, 0, 1) - from },
    lastAt: last.at,
  };
}

const WORKING: Story["steps"] = [
  [0, prompt("one")],
  [0, attach],
];

/** A death costs a moment: the verdict is the same within that. */
const TOLERANCE_MS = SECOND;
const withoutSpans = (reason: unknown): string =>
  String(reason)
    .replaceAll(/\d+ [hms]/g, "_")
    .replaceAll(/(_ )+_/g, "_");

function sameVerdict(story: Story, ...deathsAtMs: number[]): ReturnType<typeof tell> {
  const alone = tell(story, []);
  const taken = tell(story, deathsAtMs);
  expect(alone.stopped).toBeDefined();
  expect(withoutSpans(taken.stopped?.reason)).toBe(withoutSpans(alone.stopped?.reason));
  expect(Math.abs((taken.stopped?.atMs ?? 0) - (alone.stopped?.atMs ?? 0))).toBeLessThan(TOLERANCE_MS);
  expect(taken.world.of("idle-stopped")).toHaveLength(1);
  return taken;
}

describe("a takeover", () => {
  test("[ID11] in the middle of grace: the grace goes on, it does not begin again", () => {
    const steps: Story["steps"] = [...WORKING, [MINUTE, leave], [6 * MINUTE, finish]];
    const { stopped } = sameVerdict({ steps }, 9 * MINUTE);
    expect(stopped?.atMs).toBeLessThan(12 * MINUTE + SECOND);
  });

  test("[ID11] before the first check", () => {
    sameVerdict({ steps: [...WORKING, [MINUTE, finish], [MINUTE, leave]] }, 4 * MINUTE);
  });

  test("[ID11] while a turn runs that nobody watches: its grace begins when it ends, not at the takeover", () => {
    const steps: Story["steps"] = [...WORKING, [MINUTE, leave], [6 * MINUTE, say], [2 * MINUTE, finish]];
    sameVerdict({ steps }, 8 * MINUTE);
  });

  test("[ID11] the cap counts from when the last client left, whatever hosts come and go", () => {
    const talk = Array.from({ length: 29 }, (): Story["steps"][number] => [MINUTE, say]);
    const { stopped } = sameVerdict({ steps: [...WORKING, [0, leave], ...talk] }, 7 * MINUTE, 16 * MINUTE, 25 * MINUTE);
    expect(stopped).toMatchObject({ reason: "idle for more than 30 m, the longest allowed" });
  });

  test("[ID11] a turn that fell silent: stalled at the same time", () => {
    sameVerdict({ steps: [...WORKING, [0, leave], [3 * MINUTE, say]] }, 6 * MINUTE);
  });

  test("[ID11] pinned: kept as long as it was to be, over the cap, and then stopped", () => {
    const steps: Story["steps"] = [...WORKING, [0, finish], [0, keep(HOUR)], [MINUTE, leave]];
    const { stopped } = sameVerdict({ steps, forMs: 4 * HOUR }, 20 * MINUTE, 50 * MINUTE);
    expect(stopped?.atMs).toBeGreaterThan(HOUR);
  });

  test("[ID11] pinned for ever is for ever, also under the third host; unpinned is unpinned", () => {
    const steps: Story["steps"] = [...WORKING, [0, finish], [0, keep(null)], [MINUTE, leave]];
    const taken = tell({ steps, forMs: 30 * HOUR }, [HOUR, 2 * HOUR]);
    expect([taken.stopped, taken.world.agent.alive]).toEqual([undefined, true]);
    sameVerdict({ steps: [...steps, [MINUTE, keep(0)]] }, 4 * MINUTE);
  });

  test("[ID11] a detached prompt keeps its session until its turn has ended, and no longer", () => {
    const detached: Story["steps"] = [[0, prompt("one", { detach: true })]];
    const talk = Array.from({ length: 8 }, (): Story["steps"][number] => [5 * MINUTE, say]);
    const { stopped } = sameVerdict({ steps: [...detached, ...talk, [MINUTE, finish]] }, 20 * MINUTE, 35 * MINUTE);
    expect(stopped?.atMs).toBeGreaterThanOrEqual(41 * MINUTE);
  });

  test("[ID11] stopped stays stopped: nothing is started, and whoever comes back is told why and when", () => {
    const steps: Story["steps"] = [...WORKING, [0, finish], [MINUTE, leave]];
    const { world, stopped } = tell({ steps }, [HOUR]);
    expect(stopped).toBeDefined();
    expect(world.service.infos()).toMatchObject([
      { idle: { verdict: "stopped", reason: expect.stringContaining(String(stopped?.reason)) } },
    ]);
    expect([world.of("idle-stopped").length, world.agents.running, world.service.company()]).toEqual([1, [], 0]);
  });

  test("[ID11] without a recorded idle start it is the adoption, and the clients of the old host are void", () => {
    const steps: Story["steps"] = [...WORKING, [MINUTE, finish]];
    // Ann is attached all the time, to a host that dies at minute four and does not come back.
    const { stopped, world } = tell({ steps }, [4 * MINUTE]);
    const { idleTimeoutMs } = DEFAULT_SETTINGS.idle;
    expect(Math.abs((stopped?.atMs ?? 0) - 4 * MINUTE - idleTimeoutMs)).toBeLessThan(TOLERANCE_MS);
    expect(world.of("idle-started")).toMatchObject([{ data: { idleMs: 30 * SECOND } }]);
  });

  test("[ID11] so late that the time is over already: stopped at once, not after another round", () => {
    const steps: Story["steps"] = [...WORKING, [MINUTE, finish], [0, leave], [4 * MINUTE + 40 * SECOND, () => {}]];
    const world = openKept();
    for (const [afterMs, what] of steps) {
      world.machine.advance(afterMs);
      what(world);
    }
    const next = world.takeover({ waitMs: 10 * MINUTE });
    next.machine.advance(SECOND);
    expect(next.of("idle-stopped")).toHaveLength(1);
  });

  test("[ID11] a client that is back in a moment keeps it", () => {
    const world = openKept();
    for (const [, what] of WORKING) what(world);
    finish(world);
    const next = world.takeover({ waitMs: 200 });
    attach(next);
    next.machine.advance(5 * HOUR);
    expect([next.of("idle-stopped"), next.agent.alive]).toEqual([[], true]);
  });
});

test("[ID11] forty stories, each with deaths at random times: the same verdict at the same time", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const dice = createDice(seed);
    const leftMs = dice.whole(0, 2 * MINUTE);
    const steps: Story["steps"] = [...WORKING, [leftMs, leave]];
    for (let more = dice.whole(0, 3); more > 0; more--) steps.push([dice.whole(SECOND, 4 * MINUTE), say]);
    if (dice.chance(0.3)) steps.push([dice.whole(0, MINUTE), keep(dice.whole(MINUTE, 50 * MINUTE))]);
    if (dice.chance(0.7)) steps.push([dice.whole(SECOND, 4 * MINUTE), finish]);
    const alone = tell({ steps }, []);
    const stopAt = alone.stopped?.atMs ?? 0;
    expect({ seed, stopAt: stopAt > 0 }).toEqual({ seed, stopAt: true });
    const begin = steps.reduce((sum, [afterMs]) => sum + afterMs, 0);
    const deaths = Array.from({ length: dice.whole(1, 3) }, () =>
      // A client of the host that dies is gone with it: deaths begin when nobody is there.
      dice.whole(leftMs + 3 * SECOND, Math.max(begin, stopAt - 3 * SECOND)),
    );
    const taken = tell({ steps }, deaths);
    const late = (taken.stopped?.atMs ?? 0) - stopAt;
    const isSame = Math.abs(late) < TOLERANCE_MS;
    expect({ seed, deaths, late, isSame, reason: withoutSpans(taken.stopped?.reason) }).toEqual({
      seed,
      deaths,
      late,
      isSame: true,
      reason: withoutSpans(alone.stopped?.reason),
    });
  }
});
