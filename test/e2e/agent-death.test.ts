// What if an agent dies in the middle of its work, or leaves something behind? Told at once, mended, and never sent again.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, inJson, numbersOf, prompt, textOf, withAgents } from "./agent-stage.ts";
import { isRunning, kinship } from "./leftovers.ts";
import type { StreamEvent } from "./process.ts";
import { until } from "./until.ts";

const TOLD_MS = 1_000;

const toldOf = (events: readonly StreamEvent[], type: string) => events.filter((event) => event.type === type);

const sleepers = (stage: AgentStage, seconds: number) =>
  stage.agentProcesses().filter(({ command }) => command === `sleep ${seconds}`);

test(
  "[SE7] [AM4] kill -9 of the agent in mid-turn is told to all clients at once, the session is restored, and the next prompt knows the conversation",
  withAgents(async (stage) => {
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 1)\n");
    const watcher = stage.attach("work");
    const asker = stage.spawn(inJson(...prompt("work", "stream 100000 20")));
    await asker.event("update");
    await watcher.event("update", (data) => JSON.stringify(data).includes("chunk 1"));
    const neighbour = await stage.run(["prompt", "demo", "other", "--session", "beside"]);
    expect(neighbour.stdout).toBe("other (turn 1)\n");
    const pid = await stage.agentPid();

    const killedAt = performance.now();
    process.kill(pid, "SIGKILL");
    await Promise.all([
      asker.event("turn-ended", ({ stopReason }) => stopReason === "lost"),
      watcher.event("turn-ended", ({ stopReason }) => stopReason === "lost"),
    ]);
    expect(performance.now() - killedAt).toBeLessThan(TOLD_MS);
    expect(await asker.exited).toEqual({ code: 5, signal: null });
    // On a slow machine it had to say before that it waits for the agent.
    expect(JSON.parse(asker.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "AGENT_LOST", message: "Demo exited with signal SIGKILL; the outcome is unknown" },
    });
    const lost = toldOf(asker.events, "turn-ended")[0]?.data["promptId"];

    await watcher.event("restored");
    expect(await stage.agentPid()).not.toBe(pid);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 3)\n");
    expect((await stage.run(prompt("beside", "again"))).stdout).toBe("again (turn 2)\n");

    await watcher.event("turn-ended", ({ stopReason }) => stopReason === "end_turn", { since: 8 });
    await until("the third turn's end", () => toldOf(watcher.events, "turn-ended").length === 3);
    const starts = toldOf(watcher.events, "turn-started").map(({ data }) => data["promptId"]);
    expect(starts.filter((promptId) => promptId === lost)).toHaveLength(1);
    expect(toldOf(watcher.events, "agent-exited")).toHaveLength(1);
    expect(textOf(watcher.events)).toStartWith("hello (turn 1)\nchunk 1\n");
    expect(textOf(watcher.events)).toEndWith("again (turn 3)\n");
    const numbers = numbersOf(watcher.events);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  }),
  90_000,
);

test(
  "[SE7] [AM6] an agent that dies by itself costs the turn that ran; the prompts behind it go on in the new process",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const gate = join(stage.directory, "gate");
    const dying = stage.spawn(inJson(...prompt("work", `shell until [ -e ${gate} ]; do sleep 0.05; done`)));
    await dying.event("update");
    const killer = stage.spawn(prompt("work", "die 3"));
    const behind = stage.spawn(prompt("work", "behind"));
    await until("both in the queue", async () => (await stage.agentSession("work"))?.queued === 2);
    writeFileSync(gate, "");
    expect((await dying.exited).code).toBe(0);
    expect((await killer.exited).code).toBe(5);
    expect(killer.stdout).toBe("");
    expect(await behind.exited).toEqual({ code: 0, signal: null });
    expect(behind.stdout).toMatch(/^behind \(turn [34]\)\n$/);
  }),
  60_000,
);

test(
  "[AM7] an agent's shell tool in a session of its own is gone after stop --agents, with the agent, its keeper and the host",
  withAgents(async (stage) => {
    const working = stage.spawn(inJson(...prompt("work", "shell sleep 600")));
    const { pid } = await until("the shell tool", () => sleepers(stage, 600)[0]);
    const agent = await stage.agentPid();
    const host = (await stage.hostPid()) ?? 0;
    expect(kinship(agent).group).toBe(agent);
    expect(kinship(pid).session).not.toBe(kinship(agent).session);
    expect(kinship(pid).group).not.toBe(agent);
    const stopped = await stage.run(["stop", "--agents"]);
    expect(stopped.code).toBe(0);
    expect([pid, agent, host].filter(isRunning)).toEqual([]);
    expect([...stage.agentProcesses(), ...stage.holders(), ...stage.keepers()]).toEqual([]);
    expect((await working.exited).code).toBe(5);
    expect(working.events.at(-1)).toMatchObject({ type: "turn-ended", data: { stopReason: "lost" } });
    expect(stage.processes()).toEqual([]);
  }),
  60_000,
);

test(
  "[AM7] kill -9 of an agent takes its shell tools with it, before the next process begins",
  withAgents(async (stage) => {
    const working = stage.spawn(inJson(...prompt("work", "shell sleep 601")));
    const { pid } = await until("the shell tool", () => sleepers(stage, 601)[0]);
    process.kill(await stage.agentPid(), "SIGKILL");
    expect((await working.exited).code).toBe(5);
    expect((await stage.run(prompt("work", "hello"))).stdout).toBe("hello (turn 2)\n");
    expect(isRunning(pid)).toBe(false);
    expect(stage.agentProcesses().map((each) => each.pid)).toEqual([await stage.agentPid()]);
  }),
  60_000,
);

test(
  "[AM6] reconnect gives the sessions a new process, and they know what was said",
  withAgents(async (stage) => {
    await stage.run(prompt("work", "hello"));
    const before = await stage.agentPid();
    const ran = await stage.run(["reconnect", "demo"]);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 0, stdout: "demo is connected\n" });
    expect(await stage.agentPid()).not.toBe(before);
    expect(isRunning(before)).toBe(false);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 2)\n");
  }),
  60_000,
);
