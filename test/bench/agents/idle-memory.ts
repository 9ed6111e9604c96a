// What does a session cost that nobody uses? The host's memory and the agent's, with so many conversations open.
import { memoryOf } from "../support/memory-of.ts";
import { type Row, told } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";
import { startWarmHost } from "./warm-host.ts";

const AT_ONCE = 5;
const SETTLE_MS = 1_000;

export async function idleMemory(yard: Yard, binary: string, counts: readonly number[]): Promise<Row[]> {
  const host = await startWarmHost(yard, binary);
  const agents = JSON.parse(await host.run("agents", "--json")) as { name: string; pid: number }[];
  const agentPid = agents.find(({ name }) => name === "demo")?.pid ?? 0;
  const found: { count: number; host: number; agent: number }[] = [];
  const rows: Row[] = [];
  let made = 0;
  for (const count of counts) {
    while (made < count) {
      const names = Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, at) => `idle-${made + at}`);
      await Promise.all(names.map((name) => host.run("prompt", "demo", "hi", "--session", name)));
      made += names.length;
    }
    await Bun.sleep(SETTLE_MS);
    const [ours, theirs] = [memoryOf(host.child.pid), memoryOf(agentPid)];
    const what = `Host's memory, ${count} idle sessions`;
    if (!ours || !theirs) {
      rows.push(told(what, "unknown", "this system has no /proc/PID/smaps_rollup"));
      continue;
    }
    found.push({ count, host: ours.own, agent: theirs.own });
    rows.push(told(what, `${ours.pss.toFixed(1)} MiB PSS`, `private ${ours.own.toFixed(1)} MiB`));
  }
  const [first, last] = [found.at(0), found.at(-1)];
  if (first && last && last.count > first.count) {
    const perSession = (key: "host" | "agent") =>
      `${(((last[key] - first[key]) * 1024) / (last.count - first.count)).toFixed(0)} KiB`;
    rows.push(told("Memory per idle session", perSession("host"), `and ${perSession("agent")} in the demo agent`));
  }
  await host.end();
  return rows;
}
