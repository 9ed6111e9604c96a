// What does a keeper cost? Memory that is its own, and its share of what all of them have in common.
import { startWarmHost, type WarmHost } from "../agents/warm-host.ts";
import { memoryOf } from "../support/memory-of.ts";
import { median } from "../support/statistics.ts";
import { type Row, told } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";

const SETTLE_MS = 1_000;

async function keeperOf(host: WarmHost): Promise<number> {
  const agents = JSON.parse(await host.run("agents", "--json")) as { name: string; keeper: number | null }[];
  return agents.find(({ name }) => name === "demo")?.keeper ?? 0;
}

export async function keeperMemory(yard: Yard, binary: string, count: number): Promise<Row[]> {
  const hosts: WarmHost[] = [];
  const keepers: number[] = [];
  for (let each = 0; each < count; each++) {
    const host = await startWarmHost(yard, binary);
    hosts.push(host);
    keepers.push(await keeperOf(host));
  }
  await Bun.sleep(SETTLE_MS);
  const found = keepers.flatMap((pid) => memoryOf(pid) ?? []);
  for (const host of hosts) await host.end();
  const what = "Memory of a keeper, private";
  if (found.length < count) return [told(what, "unknown", "this system has no /proc/PID/smaps_rollup")];
  const of = (key: "own" | "pss" | "rss") => `${median(found.map((each) => each[key])).toFixed(1)} MiB`;
  return [told(what, of("own"), `${of("pss")} PSS, ${of("rss")} RSS, ${count} keepers`)];
}
