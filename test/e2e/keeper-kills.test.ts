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

const KILLS = 100;
const LINES = 3_000;
interface Status {
  pid: number;
  clients: { pid: number; standing: boolean }[];
  agents: { pid: number; keeper: number }[];
}

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
async function streamUnderFire(stage: AgentStage, killer: HostKiller): Promise<number> {
  const agent = await stage.agentPid();
  let turn = 1;
  for (; killer.killed.length < KILLS; turn += 2) await streamOnce(stage, killer, turn + 1);
  expect(await stage.agentPid()).toBe(agent);
  const records = stage.journal("work");
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
  expect(textOf(records).replaceAll(/.*\(turn \d+\)\n/g, "")).toBe(chunks(LINES).repeat((turn - 1) / 2));
  expect(stage.inputs().filter(({ method }) => method === "session/prompt")).toHaveLength(turn);
  return turn;
}

/** Nobody was left behind: there are the host, who stands in line, and each keeper with its agent and who holds its input open. */
async function expectNobodyElse(stage: AgentStage): Promise<void> {
  const look = async () => {
    const { code, stdout } = await stage.run(["status", "--json"]);
    if (code !== 0) return undefined;
    const { pid: host, clients, agents } = JSON.parse(stdout) as Status;
    const line = clients.filter(({ standing }) => standing).map(({ pid }) => pid);
    const named = [host, ...line, ...agents.map(({ keeper }) => keeper)];
    return {
      named: { ours: named.toSorted(), agents: agents.map(({ pid }) => pid), holders: agents.length },
      left: {
        ours: stage
          .processes()
          .map(({ pid }) => pid)
          .toSorted(),
        agents: stage.agentProcesses().map(({ pid }) => pid),
        holders: stage.holders().length,
      },
    };
  };
  let last: Awaited<ReturnType<typeof look>>;
  // Whoever was started last is still on its way into the line.
  const isSo = async () => {
    last = await look();
    return last !== undefined && Bun.deepEquals(last.named, last.left);
  };
  await until(() => `nobody but those that status names: ${JSON.stringify([last, stage.processes()])}`, isSo);
  expect(last?.named.holders).toBe(1);
}

const underFire = (options: Omit<HostKillerOptions, "pauseMs">) =>
  withAgents(async (stage) => {
    const killer = createHostKiller(stage, { pauseMs: PAUSE_MS, ...options });
    await stage.run(prompt("work", "hello"));
    await tellingSeed(killer, () => streamUnderFire(stage, killer));
    expect(killer.killed.length).toBeGreaterThanOrEqual(KILLS);
    await expectNobodyElse(stage);
  });

test(
  "[KP2] [KP4] [KP8] [SE3] the host is killed a hundred times while an agent streams a line every millisecond, with standbys in line: all clients have every line once and in order",
  withAgents(async (stage) => {
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
      const turn = await streamUnderFire(stage, killer);
      await until("the viewer's last turn", () => textOf(seen()).endsWith(`behind (turn ${turn})\n`));
      expect(seen()[0]?.seq).toBe(1);
      expectContiguous(seen());
      expect(textOf(seen())).toBe(textOf(stage.journal("work")));
    });
    expect(killer.killed.length).toBeGreaterThanOrEqual(KILLS);
    await expectNobodyElse(stage);
  }),
  240_000,
);

test(
  "[KP2] [KP5] with nobody in line a new host is started after each of a hundred kills, and no line is lost, doubled or torn",
  underFire({}),
  240_000,
);

test(
  "[KP1] [KP2] the whole process group of the host is killed a hundred times: keepers and agents are in none of them",
  underFire({ group: true }),
  240_000,
);
