// How soon does a client hear that its agent is dead? Killed in the middle of a turn, until the turn's end is told.
import { median } from "../support/statistics.ts";
import { atMostMs, ms, type Row } from "../support/table.ts";
import type { Message, Yard } from "../support/yard.ts";
import { startWarmHost, type WarmHost } from "./warm-host.ts";

const GOAL_MS = 1_000;

const isUpdate = ({ type }: Message): boolean => type === "update";
const isEnd = ({ type }: Message): boolean => type === "turn-ended";

async function agentPid(host: WarmHost): Promise<number> {
  const agents: { name: string; pid: number | null }[] = JSON.parse(await host.run("agents", "--format", "json"));
  const pid = agents.find(({ name }) => name === "demo")?.pid;
  if (!pid) throw new Error("The agent does not run");
  return pid;
}

export async function deaths(yard: Yard, binary: string, times: number): Promise<Row[]> {
  const host = await startWarmHost(yard, binary);
  const took: number[] = [];
  for (let death = 0; death < times; death++) {
    const client = yard.start(host.command("prompt", "demo", "stream 100000 5", "--format", "json"));
    await client.message(isUpdate, "what the agent says");
    const pid = await agentPid(host);
    const since = performance.now();
    process.kill(pid, "SIGKILL");
    await client.message(isEnd, "the end of the turn");
    took.push(performance.now() - since);
    await client.exited;
    // Deaths that follow each other too fast would count as a crash loop.
    await host.run("reconnect", "demo");
  }
  await host.end();
  const spread = `${times} deaths, ${ms(Math.min(...took))} to ${ms(Math.max(...took))}`;
  return [atMostMs("kill -9 of the agent in mid-turn, its client told, p50", GOAL_MS, median(took), spread)];
}
