// Who is stopped when nobody looks? Limits of seconds: work and pins are kept, what is done goes, its neighbours stay.
import { expect, test } from "bun:test";
import { type AgentStage, inJson, prompt, textOf, withAgents } from "./agent-stage.ts";
import { until } from "./until.ts";

const LIMITS = { IDLE_TIMEOUT_MS: "2500", MAX_IDLE_MS: "60000" };
const WAIT_MS = 40_000;

const idleOf = async (stage: AgentStage, name: string) => (await stage.agentSession(name))?.idle;

const stopped = (stage: AgentStage, name: string): Promise<unknown> =>
  until(`the end of "${name}"`, async () => (await idleOf(stage, name))?.verdict === "stopped", WAIT_MS);

/** A client that is gone in the middle of its turn: nobody watches, and nothing is pinned. */
async function workUnwatched(stage: AgentStage, session: string, text: string): Promise<void> {
  const client = stage.spawn(inJson(...prompt(session, text)));
  await client.event("update");
  await client.end("SIGKILL");
}

test(
  "[ID10] [GD1] [GD6] with limits of seconds a working session is kept, a finished one goes after its grace while its neighbour works on untouched, a pinned one stays",
  withAgents(async (stage) => {
    await workUnwatched(stage, "working", "stream 400 25");
    await stage.run(prompt("pinned", "hello"));
    expect((await stage.run(["keep", "pinned"])).stdout).toBe("pinned is kept\n");
    await stage.run(prompt("finished", "hello"));
    const agent = await stage.agentPid();

    expect(await idleOf(stage, "working")).toMatchObject({ verdict: "kept", dueInMs: null });
    expect((await idleOf(stage, "working"))?.reason).toMatch(/^kept: turn in progress, last output .* ago/);
    expect((await idleOf(stage, "finished"))?.reason).toMatch(/^stop(s in|ped at) /);
    expect((await idleOf(stage, "pinned"))?.reason).toMatch(/^kept: pinned/);
    await stopped(stage, "finished");
    expect(await stage.agentSession("working")).toMatchObject({ turn: "running", idle: { verdict: "kept" } });
    expect(await idleOf(stage, "pinned")).toMatchObject({ verdict: "kept" });
    expect(await stage.agentPid()).toBe(agent);

    const status = await stage.run(["status"]);
    expect(status.stdout).toMatch(/working {2}demo .*kept: turn in progress/);
    expect(status.stdout).toMatch(/finished {2}demo .*stopped at /);
    expect(status.stdout).toMatch(/pinned {2}demo .*kept: pinned/);

    await stopped(stage, "working");
    expect(await idleOf(stage, "pinned")).toMatchObject({ verdict: "kept" });
    expect(await stage.agentPid()).toBe(agent);

    const watcher = stage.attach("working");
    await watcher.event("idle-stopped");
    expect(textOf(watcher.events)).toEndWith("chunk 399\nchunk 400\n");
    const types = watcher.events.map(({ type }) => type);
    const checks = watcher.events.filter(({ type }) => type === "idle-checked");
    expect(checks.at(-1)?.data).toMatchObject({ guardDeferred: false, delayMs: 2_500 });
    expect(String(checks.at(-1)?.data["reason"])).toMatch(/grace/);
    expect(types.lastIndexOf("idle-checked")).toBeGreaterThan(types.indexOf("turn-ended"));
    await watcher.end("SIGINT");
    expect((await stage.run(prompt("finished", "again"))).stdout).toBe("again (turn 2)\n");
  }, LIMITS),
  120_000,
);

test(
  "[ID10] the agent's process ends when none of its sessions is needed; who comes back is told why, and goes on",
  withAgents(async (stage) => {
    await stage.serve();
    await stage.run(prompt("work", "hello"));
    await stage.run(prompt("kept", "hello"));
    await stage.run(["keep", "kept", "--for", "1h"]);
    await stopped(stage, "work");
    expect(stage.agentProcesses()).toHaveLength(1);
    expect((await stage.run(["keep", "kept", "--off"])).code).toBe(0);
    await stopped(stage, "kept");
    await until("the end of the agent", () => stage.agentProcesses().length === 0, WAIT_MS);

    const back = stage.onTerminal(["attach", "work"]);
    await back.says(/hello \(turn 1\)/);
    await back.says(/Stopped for idleness at .*Z: /);
    expect((await stage.run(prompt("work", "again"))).stdout).toBe("again (turn 2)\n");
    await back.says(/again \(turn 2\)/);
  }, LIMITS),
  120_000,
);

test(
  "[ID8] [GD6] while somebody is attached nothing is stopped; a detached prompt is kept until its turn has ended",
  withAgents(async (stage) => {
    await stage.run(prompt("watched", "hello"));
    const watcher = stage.attach("watched");
    await watcher.event("turn-ended");
    await stage.run(prompt("other", "hello"));
    await stage.run(prompt("detached", "stream 120 25", "--detach"));
    expect((await idleOf(stage, "detached"))?.verdict).toBe("kept");
    await stopped(stage, "other");
    expect(await idleOf(stage, "watched")).toMatchObject({ verdict: "kept", reason: "kept: 1 client attached" });
    await stopped(stage, "detached");
    const later = stage.attach("detached");
    await later.event("idle-stopped");
    expect(textOf(later.events)).toEndWith("chunk 120\n");
    expect(watcher.events.some(({ type }) => type === "idle-stopped")).toBe(false);
    await watcher.end("SIGINT");
    await stopped(stage, "watched");
  }, LIMITS),
  120_000,
);

test(
  "[ID1] [ID2] the cap ends work that goes on and on, and says so",
  withAgents(
    async (stage) => {
      await workUnwatched(stage, "endless", "stream 100000 25");
      await stopped(stage, "endless");
      expect((await stage.agentSession("endless"))?.turn).toBe("idle");
      const client = stage.attach("endless");
      const { data } = await client.event("idle-stopped");
      expect(String(data["reason"])).toMatch(/idle/);
      await client.event("turn-ended", ({ stopReason }) => stopReason === "cancelled");
    },
    { IDLE_TIMEOUT_MS: "500", MAX_IDLE_MS: "3000" },
  ),
  60_000,
);
