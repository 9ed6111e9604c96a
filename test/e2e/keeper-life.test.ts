// Who may die while an agent works? Its host, its keeper, both; only its own death costs the turn, and that is told.
import { expect, test } from "bun:test";
import { type AgentStage, chunks, inJson, numbersOf, prompt, textOf, withAgents } from "./agent-stage.ts";
import { hostDescriptors, isRunning } from "./leftovers.ts";
import { until } from "./until.ts";

const LINES = 400;
const STREAM = `stream ${LINES} 10`;
const QUESTION = /Write to notes\.txt\?.*\[y\] Allow once.*\[n\] Reject/g;

const keeperOf = (stage: AgentStage): number => {
  const [pid, ...more] = stage.keeperPids();
  if (pid === undefined || more.length > 0) throw new Error(`There are ${stage.keeperPids().length} keepers`);
  return pid;
};
const killAll = (...pids: (number | undefined)[]): void => {
  for (const pid of pids) process.kill(pid ?? Number.NaN, "SIGKILL");
};
const types = (stage: AgentStage, session: string, type: string) =>
  stage.journal(session).filter((record) => record.type === type);

/** From 1 on, none twice, none left out. */
const expectWhole = (stage: AgentStage, session: string): void => {
  const records = stage.journal(session);
  expect(numbersOf(records)).toEqual(records.map((_, at) => at + 1));
};

test(
  "[KP4] [SE4] a permission request that is open while the host dies is shown by the next one, answered once, and the tool runs",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "ask", "--detach", "--permissions", "ask"));
    await until("the question", async () => (await stage.agentSession("work"))?.turn === "waiting");
    const agent = await stage.agentPid();
    for (let round = 0; round < 3; round++) {
      const host = stage.listener();
      killAll(host);
      await until("its end", () => !isRunning(host ?? 0));
      expect((await stage.agentSession("work"))?.turn).toBe("waiting");
    }
    const person = stage.onTerminal(["attach", "work"]);
    await person.says(QUESTION);
    person.type("y\n");
    await person.says(/allowed \(allow_once\)/);
    expect(await stage.agentPid()).toBe(agent);
    for (const type of ["permission-requested", "permission-resolved"])
      expect({ type, times: types(stage, "work", type).length }).toEqual({ type, times: 1 });
    const updates = types(stage, "work", "update").map(({ data }) => data["update"] as Record<string, unknown>);
    expect(updates).toContainEqual(expect.objectContaining({ sessionUpdate: "tool_call_update", status: "completed" }));
    expectWhole(stage, "work");
  }),
  60_000,
);

test(
  "[KP4] [KP5] who was asked at a terminal answers the next host, and is not asked twice",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const person = stage.onTerminal(prompt("work", "ask"));
    await person.says(QUESTION);
    const host = stage.listener();
    killAll(host);
    await until("the next host", () => ![undefined, host].includes(stage.listener()));
    person.type("y\n");
    await person.says(/allowed \(allow_once\)/);
    expect(await person.exited).toEqual({ code: 0, signal: null });
    expect(person.output.match(QUESTION)).toHaveLength(1);
    for (const type of ["permission-requested", "permission-resolved"])
      expect({ type, times: types(stage, "work", type).length }).toEqual({ type, times: 1 });
  }),
  60_000,
);

test(
  "[KP6] the keeper is killed again and again in mid-turn: the agent notices nothing, the turn completes, and the next prompt arrives",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const [agent, host] = [await stage.agentPid(), stage.listener()];
    const asker = stage.spawn(inJson(...prompt("work", STREAM)));
    await asker.event("update");
    const seen = new Set<number>();
    // Those that have just begun, and those that are at work.
    for (const delay of [0, 0, 0, 30, 100, 300]) {
      const keeper = await until("a new keeper", () => stage.keeperPids().find((pid) => !seen.has(pid)));
      seen.add(keeper);
      await Bun.sleep(delay);
      killAll(keeper);
    }
    expect(await asker.exited).toEqual({ code: 0, signal: null });
    expect(textOf(asker.events)).toBe(chunks(LINES));
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 3)\n");
    expect([await stage.agentPid(), stage.listener()]).toEqual([agent, host]);
    expect(seen.has(keeperOf(stage))).toBe(false);
    expectWhole(stage, "work");
  }),
  60_000,
);

test(
  "[KP2] [KP6] host and keeper are killed together in mid-turn: the next host adopts the agent, and nothing is lost",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const agent = await stage.agentPid();
    const asker = stage.spawn(inJson(...prompt("work", STREAM)));
    await asker.event("update");
    for (let round = 0; round < 3; round++) {
      const [host, keeper] = await until("host and keeper", () => {
        const [listener, keepers] = [stage.listener(), stage.keeperPids()];
        return listener && keepers.length === 1 ? [listener, ...keepers] : undefined;
      });
      killAll(host, keeper);
      await until("the next ones", () => stage.listener() !== host && !stage.keeperPids().includes(keeper ?? 0));
    }
    expect(await asker.exited).toEqual({ code: 0, signal: null });
    expect(textOf(asker.events)).toBe(chunks(LINES));
    expect(await stage.agentPid()).toBe(agent);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 3)\n");
    expectWhole(stage, "work");
  }),
  60_000,
);

test(
  "[KP4] [KP7] [SE7] agent, keeper and host are killed together: what was said is there, the client is told, and the session is restored",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const agent = await stage.agentPid();
    const asker = stage.spawn(inJson(...prompt("work", "stream 100000 10")));
    await asker.event("update", (data) => JSON.stringify(data).includes("chunk 30\\n"));
    killAll(stage.listener(), keeperOf(stage), agent);
    expect((await asker.exited).code).toBe(5);
    expect(asker.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "lost" } });
    const said = textOf(asker.events);
    expect(chunks(100_000)).toStartWith(said);
    expect(said).toContain("chunk 30\n");
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 3)\n");
    expect(textOf(stage.journal("work"))).toBe(`hello (turn 1)\n${said}again (turn 3)\n`);
    expect(types(stage, "work", "turn-started")).toHaveLength(3);
    expect(types(stage, "work", "restored")).toHaveLength(1);
    // Of the one that died nothing is left.
    expect({ agents: stage.agentProcesses().length, holders: stage.holders().length }).toEqual({
      agents: 1,
      holders: 1,
    });
    expect([stage.keepers().length, stage.keeperPids().length]).toEqual([1, 1]);
    expectWhole(stage, "work");
  }),
  60_000,
);

test(
  "[KP2] [TK9] the port comes back before the watches, which take the kernel some ms: of a first host, and of one that took over",
  withAgents(async (stage) => {
    const first = await stage.serve();
    const next = await stage.standby();
    await stage.run(prompt("work", "hello"));
    const isPortFirst = (pid: number): void => {
      const { watching, listening } = hostDescriptors(pid, stage.port);
      expect({ watches: watching.length, listens: listening.length }).toEqual({ watches: 1, listens: 2 });
      // A process that is killed closes the highest first.
      expect(Math.max(...watching)).toBeLessThan(Math.min(...listening));
    };
    isPortFirst(first.pid);
    first.kill("SIGKILL");
    await next.event("role-changed");
    await stage.run(prompt("work", "hello again"));
    isPortFirst(next.pid);
  }),
  60_000,
);
