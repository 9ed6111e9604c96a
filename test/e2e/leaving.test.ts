// How does a host leave?
import { describe, expect, test } from "bun:test";
import { openDeafPeer } from "./deaf-peer.ts";
import type { Proc } from "./process.ts";
import { type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

const typesOf = ({ events }: Proc): string[] => events.map(({ type }) => type);

describe.concurrent("serve leaves in good order", () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    test(
      `[SD1] [CM5] on ${signal}: it says shutting-down and stopped, ends with 0, and the port is free`,
      staged(async (stage) => {
        const host = await stage.serve();
        expect(await host.end(signal)).toEqual({ code: 0, signal: null });
        expect(typesOf(host)).toEqual(["started", "shutting-down", "stopped"]);
        expect(host.events[1]?.data).toEqual({ why: `of ${signal}` });
        expect(host.stderr).toBe("");
        expect(await stage.health()).toBeUndefined();
        const standby = await stage.standby();
        const line = await stage.standby();
        // In line it goes as quietly: nobody else notices.
        expect(await line.end(signal)).toEqual({ code: 0, signal: null });
        expect(typesOf(line)).toEqual(["started", "shutting-down", "stopped"]);
        await standby.event("client-disconnected");
        expect(typesOf(standby)).toEqual(["started", "client-connected", "client-disconnected"]);
      }),
      60_000,
    );
  }

  test(
    "[SD1] a signal that comes at once, before the port is bound, is a good end too",
    staged(async (stage) => {
      for (const delayMs of [0, 5, 10, 20, 30, 40, 60]) {
        const host = stage.spawn(["serve", "--json"]);
        await Bun.sleep(delayMs);
        const { code, signal } = await host.end("SIGTERM");
        // Before the program's first line the system ends it; after it, the program does.
        if (signal === null) expect([0, 130]).toContain(code as number);
        else expect(signal).toBe("SIGTERM");
        if (typesOf(host).includes("started")) expect(typesOf(host).at(-1)).toBe("stopped");
        expect(await stage.health()).toBeUndefined();
      }
    }),
    60_000,
  );
});

async function hostThatMustWait(stage: Stage): Promise<Proc> {
  const host = await stage.serve("--auth", "none");
  const peer = await openDeafPeer(stage.port);
  stage.defer(peer.close);
  await host.event("client-connected");
  await peer.fill();
  return host;
}

describe.concurrent("serve is held up", () => {
  test(
    "[SD1] [CM5] [CM3] a second Ctrl-C ends it at once, with 130",
    staged(async (stage) => {
      const host = await hostThatMustWait(stage);
      host.kill("SIGINT");
      await host.event("shutting-down");
      expect(await host.end("SIGINT")).toEqual({ code: 130, signal: null });
      expect(typesOf(host)).not.toContain("stopped");
    }),
    60_000,
  );

  test(
    "[SD3] a peer that reads nothing is cut off: all is over 2 s later, with 0",
    staged(async (stage) => {
      const host = await hostThatMustWait(stage);
      host.kill("SIGTERM");
      const leaving = await host.event("shutting-down");
      expect(await host.exited).toEqual({ code: 0, signal: null });
      const stopped = await host.event("stopped");
      const ms = Date.parse(stopped.at) - Date.parse(leaving.at);
      // It was held up, or this would prove nothing.
      expect(ms).toBeGreaterThan(1_000);
      // Two seconds, and what a busy machine adds; without a limit it would be for ever.
      expect(ms).toBeLessThan(10_000);
    }),
    60_000,
  );
});

interface Look {
  at: number;
  /** "old", "new", or why there was no answer. */
  from: "old" | "new" | "closing" | "nobody";
}

function watchHealth(stage: Stage): { looks: Look[]; stop(): Promise<void> } {
  const looks: Look[] = [];
  let over = false;
  const watching = (async () => {
    while (!over) {
      const health = await stage.health();
      const at = performance.now();
      if (!health) looks.push({ at, from: "nobody" });
      else if (health.status === 503) looks.push({ at, from: "closing" });
      else looks.push({ at, from: health.body["lastFailoverAt"] === null ? "old" : "new" });
      await Bun.sleep(1);
    }
  })();
  return {
    looks,
    stop() {
      over = true;
      return watching;
    },
  };
}

test(
  "[SD2] [TK1] [TK11] [HE1] a host hands over without a gap: /health goes from the old to the new host, and nobody joins the old one any more",
  staged(async (stage) => {
    const host = await stage.serve();
    const standbys = [await stage.standby(), await stage.standby()];
    await stage.plugin("one");
    const watch = watchHealth(stage);
    stage.defer(watch.stop);
    await until("an answer of the old host", () => watch.looks.some(({ from }) => from === "old"));
    host.kill("SIGTERM");
    // Those that come meanwhile find the new host.
    const ran = await Promise.all(Array.from({ length: 4 }, () => stage.run(["exec", "6 * 7"])));
    expect(ran.map(({ code, stdout }) => ({ code, stdout }))).toEqual(Array(4).fill({ code: 0, stdout: "42\n" }));
    const next = await Promise.any(
      standbys.map(async (proc) => {
        await proc.event("role-changed", ({ role }) => role === "host");
        return proc;
      }),
    );
    const other = standbys.find((proc) => proc !== next) as Proc;
    await next.event("client-connected", ({ pid }) => pid === other.pid);
    await next.event("plugin-connected");
    expect(await host.exited).toEqual({ code: 0, signal: null });
    await watch.stop();

    const order = watch.looks.map(({ from }) => from).filter((from, index, all) => from !== all[index - 1]);
    expect(order[0]).toBe("old");
    expect(order.at(-1)).toBe("new");
    // No way back: an answer of the old host never follows a sign that it is leaving.
    expect(order.filter((from) => from === "old")).toHaveLength(1);
    expect(order.filter((from) => from === "new")).toHaveLength(1);
    const lastOld = watch.looks.findLast(({ from }) => from === "old")?.at ?? 0;
    const firstNew = watch.looks.find(({ from }) => from === "new")?.at ?? Number.POSITIVE_INFINITY;
    console.log(`/health unanswered for ${(firstNew - lastOld).toFixed(1)} ms, as seen by a poll every ms`);
    expect(firstNew - lastOld).toBeLessThan(5_000);
    const after = host.events.slice(host.events.findIndex(({ type }) => type === "shutting-down"));
    expect(after.filter(({ type }) => type.endsWith("-connected"))).toEqual([]);
    expect(typesOf(other)).toEqual(["started"]);
  }),
  60_000,
);

test(
  "[SD2] [TK1] stop hands over to who stands in line, and says who it is",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    const { code, stdout } = await stage.run(["stop", "--json"]);
    expect({ code, ...JSON.parse(stdout) }).toEqual({
      code: 0,
      stopped: host.pid,
      next: standby.pid,
      cut: [],
      working: [],
      pinned: [],
      left: [],
    });
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(host.events.find(({ type }) => type === "shutting-down")?.data).toEqual({ why: "a client asked for it" });
    const last = await stage.run(["stop"]);
    expect({ code: last.code, stdout: last.stdout }).toEqual({ code: 0, stdout: `Host ${standby.pid} stopped\n` });
    expect(await stage.run(["stop", "--json"])).toMatchObject({
      code: 0,
      stdout: '{"stopped":null,"next":null,"cut":[],"working":[],"pinned":[],"left":[]}\n',
    });
  }),
  60_000,
);

test(
  "[SD2] [CM3] stop ends a host that only watches, too, and hands over from it",
  staged(async (stage) => {
    const watcher = stage.spawn(["sessions", "--watch", "--json"]);
    await until("the watcher as host", async () => (await stage.hostPid()) === watcher.pid);
    const standby = await stage.standby();
    const { code, stdout } = await stage.run(["stop", "--json"]);
    expect({ code, ...JSON.parse(stdout) }).toEqual({
      code: 0,
      stopped: watcher.pid,
      next: standby.pid,
      cut: [],
      working: [],
      pinned: [],
      left: [],
    });
    expect(await watcher.exited).toEqual({ code: 1, signal: null });
    expect(watcher.stderr).toContain("a client asked it to stop");
  }),
  60_000,
);
