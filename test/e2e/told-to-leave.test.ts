// What if a host is told to leave while it still takes over? It writes nothing beside its successor, and nobody waits for it.
import { expect, test } from "bun:test";
import { type AgentStage, chunks, inJson, prompt, textOf, withAgents } from "./agent-stage.ts";
import { isRunning, signal } from "./leftovers.ts";
import type { Proc } from "./process.ts";
import { until } from "./until.ts";

const LINES = 400;

const hosts = (stage: AgentStage, pid: number): Promise<unknown> =>
  until(`process ${pid} to host`, () => stage.listener() === pid);

/** B is host and waits for a keeper that is stopped; then it is told to leave, and C hosts. */
const leaveWhileAdopting = (tell: (stage: AgentStage, second: Proc) => Promise<unknown> | unknown) =>
  withAgents(async (stage) => {
    const first = await stage.serve();
    const second = await stage.standby();
    const third = await stage.standby();
    const asker = stage.spawn(inJson(...prompt("work", `stream ${LINES} 5`)));
    await asker.event("update");
    const [keeper = 0] = stage.keeperPids();
    process.kill(keeper, "SIGSTOP");
    stage.defer(() => signal(keeper, "SIGCONT"));
    await first.end("SIGKILL");
    await hosts(stage, second.pid);
    // Or the one who asks might start a host sooner than this one is in line again.
    await second.event("client-connected", ({ pid }) => pid === third.pid);
    await tell(stage, second);
    await hosts(stage, third.pid);
    process.kill(keeper, "SIGCONT");
    const { code } = await asker.exited;
    expect({ code, stderr: asker.stderr.replaceAll(/^Waiting for .*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
    expect(textOf(asker.events)).toBe(chunks(LINES));
    await second.exited;
    const records = stage.journal("work");
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1));
    expect(textOf(records)).toBe(chunks(LINES));
    expect(records.filter(({ type }) => type === "turn-ended").map(({ data }) => data["stopReason"])).toEqual([
      "end_turn",
    ]);
    expect(stage.inputs().filter(({ method }) => method === "session/prompt")).toHaveLength(1);
  });

for (const name of ["SIGTERM", "SIGINT"] as const) {
  test(
    `[KP12] ${name} to a host that still adopts: it leaves, its successor alone writes, each line stands there once`,
    leaveWhileAdopting((_, second) => void process.kill(second.pid, name)),
    60_000,
  );
}

test(
  "[KP12] stop of a host that still adopts: it leaves, its successor alone writes, each line stands there once",
  leaveWhileAdopting((stage) => void stage.spawn(["stop"])),
  60_000,
);

test(
  "[KP12] a keeper that is stopped keeps nobody waiting: the next host serves other sessions, and its own later",
  withAgents(async (stage) => {
    stage.installOddAgent();
    const first = await stage.serve();
    const second = await stage.standby();
    const asker = stage.spawn(inJson(...prompt("work", `stream ${LINES} 5`)));
    await asker.event("update");
    const [keeper = 0] = stage.keeperPids();
    const odd = stage.spawn(["prompt", "codex", "end_turn", "-s", "odd"]);
    expect((await odd.exited).code).toBe(0);
    process.kill(keeper, "SIGSTOP");
    stage.defer(() => signal(keeper, "SIGCONT"));
    await first.end("SIGKILL");
    await hosts(stage, second.pid);
    const others = await stage.run(["prompt", "codex", "end_turn", "-s", "odd"]);
    // Nobody waited until the stopped one was given up.
    expect([others.code, isRunning(keeper)]).toEqual([0, true]);
    process.kill(keeper, "SIGCONT");
    expect((await asker.exited).code).toBe(0);
    expect(textOf(asker.events)).toBe(chunks(LINES));
  }),
  60_000,
);
