// What of an agent's daemons that hide from group and tag? Their keeper finds them, and the next keeper what that one saw.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStage, prompt, withAgents } from "./agent-stage.ts";
import { isRunning } from "./leftovers.ts";
import { until } from "./until.ts";

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
};
const running = (command: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandLine(name) === command)
    .map(Number)
    .filter(isRunning);

/** An agent's shell starts it in the way of daemons: forked twice, a session of its own, no environment. */
async function startDaemon(stage: AgentStage): Promise<number> {
  // A number of its own: nothing else of it can be found from outside.
  const command = `sleep 9${Math.floor(Math.random() * 1e8)}`;
  stage.defer(() => {
    for (const pid of running(command)) process.kill(pid, "SIGKILL");
  });
  await stage.run(prompt("work", `shell setsid env -i sh -c "${command} & exit 0" >/dev/null 2>&1 </dev/null`));
  return await until("the daemon", () => running(command)[0]);
}

const strays = (stage: AgentStage): number[] =>
  stage
    .keepers()
    .map((place) => JSON.parse(readFileSync(join(place, "state.json"), "utf8")))
    .flatMap((state) => (state.strays ?? []) as { pid: number }[])
    .map(({ pid }) => pid);

test(
  "[KP15] [KP7] a daemon that forked twice, cleared its environment and left its session is gone after stop --agents",
  withAgents(async (stage) => {
    const daemon = await startDaemon(stage);
    expect(readFileSync(`/proc/${daemon}/environ`, "utf8")).not.toContain("HOLDFAST_AGENT");
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
    expect(isRunning(daemon)).toBe(false);
  }),
  60_000,
);

test(
  "[KP15] and so it is when its keeper was killed meanwhile: the next one knows what that one saw",
  withAgents(async (stage) => {
    const daemon = await startDaemon(stage);
    await until("that its keeper has seen it", () => strays(stage).includes(daemon));
    const [keeper = 0] = stage.keeperPids();
    process.kill(keeper, "SIGKILL");
    await until("the next keeper", () => stage.keeperPids().some((pid) => pid !== keeper));
    expect((await stage.run(prompt("work", "hello"))).stdout).toContain("hello (turn 2)");
    expect(isRunning(daemon)).toBe(true);
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
    expect(isRunning(daemon)).toBe(false);
  }),
  60_000,
);

test(
  "[KP15] and when host, keeper and agent were all killed: the next host ends what the keeper had seen",
  withAgents(async (stage) => {
    const daemon = await startDaemon(stage);
    await until("that its keeper has seen it", () => strays(stage).includes(daemon));
    const [agent, host] = [await stage.agentPid(), stage.listener() ?? 0];
    const all = [host, ...stage.keeperPids(), agent];
    for (const pid of all) process.kill(pid, "SIGKILL");
    await until("their end", () => !all.some(isRunning));
    expect(isRunning(daemon)).toBe(true);
    expect((await stage.run(["stop", "--agents"])).code).toBe(0);
    await until("its end", () => !isRunning(daemon));
  }),
  60_000,
);
