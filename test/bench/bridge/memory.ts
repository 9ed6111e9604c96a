// What does a connected plugin cost the host? Read off the kernel's own account of the process.
import { PROTOCOL_VERSION } from "../../../src/protocol/version.ts";
import { memoryOf } from "../support/memory-of.ts";
import { type Row, told } from "../support/table.ts";
import { until, type Yard } from "../support/yard.ts";

const SETTLE_MS = 1_000;

function openPlugin(port: number, name: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`ws://127.0.0.1:${port}/plugin`);
    ws.addEventListener("open", () => {
      const payload = {
        pluginVersion: "1.0.0",
        instanceId: name,
        placeName: "Bench",
        state: "Edit",
        capabilities: ["execute", "queryState"],
      };
      ws.send(JSON.stringify({ type: "register", sessionId: name, protocolVersion: PROTOCOL_VERSION, payload }));
    });
    ws.addEventListener("message", () => resolve(ws), { once: true });
    ws.addEventListener("close", ({ reason }) => reject(new Error(`A plugin was sent away: ${reason}`)));
  });
}

export async function memory(yard: Yard, binary: string, counts: readonly number[]): Promise<Row[]> {
  const host = yard.start([binary, "serve", "--port", "0", "--json"]);
  const started = await host.message(({ type }) => type === "started", "the host's start");
  const { port } = started["data"] as { port: number };
  const plugins: WebSocket[] = [];
  const rows: Row[] = [];
  try {
    for (const count of counts) {
      while (plugins.length < count) plugins.push(await openPlugin(port, `bench-${plugins.length}`));
      const connected = () => host.messages.filter(({ type }) => type === "plugin-connected").length;
      await until(
        () => connected() >= count || undefined,
        () => `${count} plugins, ${connected()} are there`,
      );
      await Bun.sleep(SETTLE_MS);
      const found = memoryOf(host.pid);
      const what = `Host's memory, ${count} plugins`;
      const mib = (value: number) => `${value.toFixed(1)} MiB`;
      if (!found) rows.push(told(what, "unknown", "this system has no /proc/PID/smaps_rollup"));
      else rows.push(told(what, `${mib(found.pss)} PSS`, `private ${mib(found.own)}, RSS ${mib(found.rss)}`));
    }
  } finally {
    for (const ws of plugins) ws.terminate();
  }
  host.signal("SIGKILL");
  await host.exited;
  return rows;
}
