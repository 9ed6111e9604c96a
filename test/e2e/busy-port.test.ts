// What does a start on a port that somebody else holds say?
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { staged } from "./support.ts";
import { until } from "./until.ts";

const AT_ONCE_MS = 9_000;

/** What every refusal must tell: who holds it, and what to do. */
const remedy = (port: number) =>
  new RegExp(`ort ${port} is held by process ${process.pid} .*choose another port with --port`);

test(
  "[HO5] on our own host's port serve fails with 4 and names its pid, --standby joins, and so does a command",
  staged(async (stage) => {
    const host = await stage.serve();
    const again = await stage.run(["serve", "--port", String(stage.port)]);
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 4, stdout: "" });
    expect(again.stderr).toContain(`A holdfast host runs on port ${stage.port} already (pid ${host.pid})`);
    expect(again.stderr).toContain("--standby");
    expect(again.stderr).toContain("holdfast stop");
    const standby = await stage.standby();
    expect((await standby.event("started")).data).toEqual({ port: stage.port, pid: standby.pid, role: "client" });
    expect(await stage.run(["sessions", "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
    expect(host.running).toBe(true);
  }),
  60_000,
);

test(
  "[HO5] on a foreign web server's port every start fails at once with 4, names the port and the remedy",
  staged(async (stage) => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: stage.port, fetch: () => new Response("hello") });
    stage.defer(() => server.stop(true));
    const lines = [["serve"], ["serve", "--standby"], ["sessions"], ["exec", "1"], ["status"], ["stop"]];
    const ran = await Promise.all(lines.map((words) => stage.run(words)));
    expect(ran.map(({ code, stdout }) => ({ code, stdout }))).toEqual(lines.map(() => ({ code: 4, stdout: "" })));
    for (const { stderr } of ran) {
      expect(stderr).toMatch(remedy(stage.port));
      // Once, and not as a notice before.
      expect(stderr.trimEnd().split("\n")).toEqual([expect.stringMatching(/^error: Port /)]);
    }
    // At once: not after the ten rounds of the ladder, a second each.
    for (const { ms } of ran) expect(ms).toBeLessThan(AT_ONCE_MS);
    const json = await stage.run(["sessions", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "PORT_HELD" } });
  }),
  60_000,
);

test(
  "[HO5] [SC2] another user's holdfast is a stranger: every start fails at once with 4 and says so",
  staged(async (stage) => {
    const theirs = { XDG_STATE_HOME: join(stage.directory, "theirs") };
    const host = stage.spawn(["serve", "--json"], { env: theirs });
    await host.event("started");
    const lines = [["serve"], ["serve", "--standby"], ["sessions"], ["exec", "1"], ["stop"]];
    const ran = await Promise.all(lines.map((words) => stage.run(words)));
    expect(ran.map(({ code, stdout }) => ({ code, stdout }))).toEqual(lines.map(() => ({ code: 4, stdout: "" })));
    for (const { stderr } of ran) {
      expect(stderr).toContain(`Port ${stage.port} is held by process ${host.pid} (holdfast)`);
      expect(stderr).toContain("another user's holdfast");
      expect(stderr).toContain("choose another port with --port");
    }
    for (const { ms } of ran) expect(ms).toBeLessThan(AT_ONCE_MS);
    // Nobody got in, and nobody was heard.
    expect(host.events.map(({ type }) => type)).toEqual(["started"]);
    const plugin = stage.spawn(["plugin", "js"]);
    await plugin.errSays(/cannot prove that it knows this user's token/);
    expect(await stage.run(["sessions", "--json"], { env: theirs })).toMatchObject({ code: 0, stdout: "[]\n" });
  }),
  60_000,
);

test(
  "[HO2] [::1] held by another process fails no start: status says so, and the host takes it when it is free",
  staged(async (stage) => {
    const other = Bun.serve({ hostname: "::1", port: stage.port, fetch: () => new Response("theirs") });
    stage.defer(() => other.stop(true));
    await stage.serve();
    const six = async () => JSON.parse((await stage.run(["status", "--json"])).stdout).addresses[1];
    await until("a first try", async () => (await six()).note !== undefined);
    expect(await six()).toEqual({ address: "[::1]", listening: false, note: expect.stringContaining("taken") });
    // Who is asked for by name still gets our host, by its own address.
    expect((await stage.health())?.status).toBe(200);
    await other.stop(true);
    await until("[::1]", async () => (await six()).listening);
    const answer = await fetch(`http://[::1]:${stage.port}/health`, { headers: { connection: "close" } });
    expect(await answer.json()).toMatchObject({ status: "ok", port: stage.port });
  }),
  60_000,
);

describe.concurrent("a port whose holder says nothing of use", () => {
  const holders = {
    "says nothing": () => {},
    "drops every connection": (socket: Bun.Socket) => void socket.end(),
  };
  for (const [does, open] of Object.entries(holders)) {
    test(
      `[HO5] [TK9] the holder ${does}: starts try for some seconds, then fail with 4, naming holder and remedy`,
      staged(async (stage) => {
        let taken = 0;
        const mute = Bun.listen({
          hostname: "127.0.0.1",
          port: stage.port,
          socket: {
            open(socket) {
              taken++;
              open(socket);
            },
            data() {},
          },
        });
        stage.defer(() => mute.stop(true));
        const lines = [["serve"], ["serve", "--standby"], ["sessions"], ["status"]];
        const ran = await Promise.all(lines.map((words) => stage.run(words)));
        expect(ran.map(({ code, stdout }) => ({ code, stdout }))).toEqual(lines.map(() => ({ code: 4, stdout: "" })));
        for (const { stderr } of ran) expect(stderr).toContain(`held by process ${process.pid} `);
        for (const { stderr } of ran.slice(0, 2)) expect(stderr).toContain("choose another port with --port");
        for (const { ms } of ran) expect(ms).toBeGreaterThan(2_900);
        for (const { ms } of ran) expect(ms).toBeLessThan(50_000);
        // Each tried more than once.
        expect(taken).toBeGreaterThanOrEqual(3 * lines.length);
      }),
      60_000,
    );
  }
});
