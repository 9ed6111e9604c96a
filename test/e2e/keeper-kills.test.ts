// What does kill -9 of the host cost, again and again in the middle of a turn? No line, no order, no client.
import { expect, test } from "bun:test";
import {
  type AgentStage,
  chunks,
  inJson,
  numbersOf,
  prompt,
  type SessionEvent,
  textOf,
  withAgents,
} from "./agent-stage.ts";
import { createHostKiller, type HostKiller, type HostKillerOptions, tellingSeed } from "./host-killer.ts";
import type { Proc } from "./process.ts";
import { until } from "./until.ts";

const LINES = 3_000;
const PAUSE_MS = [0, 250] as const;

/** Said to whoever waits longer than a second. */
const PROGRESS = /^Waiting for .*\n/gm;

const expectContiguous = (events: readonly SessionEvent[]): void => {
  const numbers = numbersOf(events);
  expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
};

/** One turn, seen by who asked for it and by who waits behind it, while hosts are killed. */
async function streamOnce(stage: AgentStage, killer: HostKiller, turn: number): Promise<void> {
  const asker = stage.spawn(inJson(...prompt("work", `stream ${LINES} 1`)));
  await asker.event("turn-started");
  const waiter = stage.spawn(inJson(...prompt("work", "behind")));
  await waiter.event("prompt", ({ text }) => text === "behind");
  const end = killer.start();
  for (const each of [asker, waiter]) {
    const { code } = await each.exited;
    const stderr = each.stderr.replaceAll(PROGRESS, "");
    expect({ who: each.name, code, stderr }).toEqual({ who: each.name, code: 0, stderr: "" });
    expectContiguous(each.events);
  }
  await end();
  expect(textOf(asker.events)).toBe(chunks(LINES));
  // It came a little later, and has all from there on.
  const [, rest] = textOf(waiter.events).match(/^((?:chunk \d+\n)+)behind \(turn \d+\)\n$/) ?? [];
  expect(chunks(LINES)).toEndWith(rest ?? "nothing");
  expect(textOf(waiter.events)).toEndWith(`behind (turn ${turn + 1})\n`);
}

/** Turn after turn, until there were enough kills; their number. */
async function streamUnderFire(stage: AgentStage, killer: HostKiller, kills: number): Promise<number> {
  const agent = await stage.agentPid();
  let turn = 1;
  for (; killer.killed.length < kills; turn += 2) await streamOnce(stage, killer, turn + 1);
  expect(await stage.agentPid()).toBe(agent);
  const records = stage.journal("work");
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
  expect(textOf(records).replaceAll(/.*\(turn \d+\)\n/g, "")).toBe(chunks(LINES).repeat((turn - 1) / 2));
  expect(stage.inputs().filter(({ method }) => method === "session/prompt")).toHaveLength(turn);
  return turn;
}

const underFire = (kills: number, options: Omit<HostKillerOptions, "pauseMs">) =>
  withAgents(async (stage) => {
    const killer = createHostKiller(stage, { pauseMs: PAUSE_MS, ...options });
    await stage.run(prompt("work", "hello"));
    await tellingSeed(killer, () => streamUnderFire(stage, killer, kills));
    expect(killer.killed.length).toBeGreaterThanOrEqual(kills);
  });

test(
  "[KP2] [KP4] [KP8] [SE3] the host is killed a hundred times while an agent streams a line every millisecond, with standbys in line: all clients have every line once and in order",
  withAgents(async (stage) => {
    const KILLS = 100;
    await stage.serve();
    await Promise.all([stage.standby(), stage.standby()]);
    // A viewer stands in line too: when it hosts it is killed as any other, and comes back behind what it has read.
    const views: Proc[] = [];
    const seen = (): SessionEvent[] => views.flatMap(({ events }) => events);
    const view = (): void => void views.push(stage.attach("work", "--after", String(seen().at(-1)?.seq ?? 0)));
    const killer = createHostKiller(stage, {
      pauseMs: PAUSE_MS,
      async after(pid) {
        const last = views.at(-1);
        if (last && (last.pid === pid || !last.running)) {
          await last.exited;
          view();
        } else void stage.standby().catch(() => undefined);
      },
    });
    await stage.run(prompt("work", "hello"));
    view();
    await tellingSeed(killer, async () => {
      const turn = await streamUnderFire(stage, killer, KILLS);
      await until("the viewer's last turn", () => textOf(seen()).endsWith(`behind (turn ${turn})\n`));
      expect(seen()[0]?.seq).toBe(1);
      expectContiguous(seen());
      expect(textOf(seen())).toBe(textOf(stage.journal("work")));
    });
    expect(killer.killed.length).toBeGreaterThanOrEqual(KILLS);
  }),
  240_000,
);

test(
  "[KP2] [KP5] with nobody in line a new host is started after each of thirty kills, and no line is lost, doubled or torn",
  underFire(30, {}),
  120_000,
);

test(
  "[KP1] [KP2] the whole process group of the host is killed thirty times: keepers and agents are in none of them",
  underFire(30, { group: true }),
  120_000,
);
