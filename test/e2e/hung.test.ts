// Is a process that stands still told from one that is dead?
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const SAID_WITHIN_MS = 20_000;
/** Detection is due at 20 s at the latest; what comes on top is a slow machine and the way of the text to us. */
const SLACK_MS = 10_000;
/** The first ping may be on its way already. */
const EARLY_MS = 2_500;
const PING_WINDOW_MS = 15_000;

test.concurrent(
  "[TK10] a stopped host is told by its clients within 20 s, with its pid, and they are with it again when it goes on",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    const watcher = stage.spawn(["sessions", "--watch", "--json"]);
    await host.event("client-connected", ({ pid }) => pid === watcher.pid);
    const plugin = await stage.plugin("one");
    const seen = plugin.events.length;
    const mark = join(stage.directory, "begun");
    const exec = stage.spawn(["exec", `await Bun.write("${mark}", ""); await Bun.sleep(600_000)`, "--timeout", "10m"]);
    await until("the script's begin", () => existsSync(mark));

    host.kill("SIGSTOP");
    const since = performance.now();
    // A command that comes now says the same, and ends.
    const late = stage.run(["sessions", "--json"]);
    const hangs = new RegExp(`The host on port ${stage.port} hangs.*held by process ${host.pid} `);
    await Promise.all([standby, watcher, exec].map((proc) => proc.errSays(hangs)));
    expect(performance.now() - since).toBeLessThan(SAID_WITHIN_MS + SLACK_MS);
    expect(performance.now() - since).toBeGreaterThan(PING_WINDOW_MS - EARLY_MS);
    // Its outcome is unknown, and it is told so; nobody took the port from a host that may go on.
    expect(await exec.exited).toEqual({ code: 5, signal: null });
    expect(exec.stderr).toContain("it was not sent again");
    expect(standby.events.map(({ type }) => type)).toEqual(["started"]);

    const { code, stdout, stderr } = await late;
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toContain(`process ${host.pid} `);

    // One that had not noticed yet would simply stay.
    await until("the plugin's notice", () => plugin.events.length > seen);
    const before = host.events.length;
    host.kill("SIGCONT");
    const again = { since: before };
    await Promise.all([
      host.event("client-connected", ({ pid }) => pid === standby.pid, again),
      host.event("client-connected", ({ pid }) => pid === watcher.pid, again),
      host.event("plugin-connected", () => true, again),
    ]);
    expect((await stage.run(["exec", "6 * 7"])).stdout).toBe("42\n");
    expect([standby, watcher, plugin].map(({ running }) => running)).toEqual([true, true, true]);
    expect(standby.events.map(({ type }) => type)).toEqual(["started"]);
  }),
  120_000,
);

test.concurrent(
  "[TK10] a client that was stopped for longer than the ping window does not take a healthy host for dead",
  staged(async (stage) => {
    const host = await stage.serve();
    const standby = await stage.standby();
    const plugin = await stage.plugin("one");
    const seen = plugin.events.length;
    standby.kill("SIGSTOP");
    plugin.kill("SIGSTOP");
    const since = performance.now();
    await until("the ping window", () => performance.now() - since > PING_WINDOW_MS + 3_000);
    standby.kill("SIGCONT");
    plugin.kill("SIGCONT");
    // It answers, so it is awake; and whatever it had to say of the host has been said by now.
    expect((await stage.run(["exec", "6 * 7"])).stdout).toBe("42\n");
    await until("one more ping", () => performance.now() - since > PING_WINDOW_MS + 9_000);
    expect(standby.stderr).toBe("");
    expect(standby.events.map(({ type }) => type)).toEqual(["started"]);
    expect(plugin.events.slice(seen)).toEqual([]);
    expect(host.events.filter(({ type }) => type === "plugin-disconnected")).toEqual([]);
    expect(host.events.filter(({ type, data }) => type === "client-disconnected" && data["standing"])).toEqual([]);
    await host.end("SIGKILL");
    await standby.event("role-changed", ({ role }) => role === "host");
  }),
  120_000,
);
