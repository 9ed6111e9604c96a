// What do our processes tell a stranger who took the port? A nonce, and nothing else.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openCloser, openFaint, openStranger, type Stranger } from "./stranger.ts";
import { type Stage, staged } from "./support.ts";
import { until } from "./until.ts";

const NONCE = "[0-9a-f]{64}";
const ALLOWED = {
  "/client": new RegExp(`^\\{"type":"client-challenge","nonce":"${NONCE}"\\}$`),
  "/plugin": new RegExp(`^\\{"type":"challenge","sessionId":"","payload":\\{"nonce":"${NONCE}"\\}\\}$`),
} as Record<string, RegExp>;
const HEADERS = [
  ...["accept", "accept-encoding", "connection", "host", "upgrade", "user-agent"],
  ...["sec-websocket-extensions", "sec-websocket-key", "sec-websocket-version"],
  "x-holdfast-nonce",
];
const IS_NONCE = new RegExp(`^${NONCE}$`);

const tokenOf = (stage: Stage): string => readFileSync(join(stage.state, "token"), "utf8").trim();

function expectNothingToldTo(stranger: Stranger, token: string): void {
  expect(stranger.frames.filter(({ path, text }) => !ALLOWED[path]?.test(text))).toEqual([]);
  const names = new Set(stranger.requests.flatMap(({ headers }) => Object.keys(headers)));
  expect([...names].filter((name) => !HEADERS.includes(name))).toEqual([]);
  const nonces = stranger.requests.flatMap(({ headers }) => headers["x-holdfast-nonce"] ?? []);
  expect(nonces.filter((nonce) => !IS_NONCE.test(nonce))).toEqual([]);
  // A new one for each knock, and never the token.
  expect(new Set(nonces).size).toBe(nonces.length);
  expect(new Set(stranger.requests.map(({ path }) => path))).toEqual(new Set(["/client", "/plugin", "/health"]));
  expect(JSON.stringify(stranger.requests)).not.toContain(token);
}

const COMMANDS = [
  ["sessions"],
  ["exec", "1"],
  ["state"],
  ["logs"],
  ["query", "a"],
  ["status"],
  ["stop"],
  ["screenshot"],
];

const MANNERS = {
  liar: { client: /cannot|could not prove/, plugin: /cannot prove/ },
  mirror: { client: /could not prove/, plugin: /cannot prove/ },
  bossy: { client: /could not prove/, plugin: /cannot prove/ },
  mute: { client: /does not answer/, plugin: /does not answer/ },
} as const;

describe.concurrent("a stranger takes the port while the host is away", () => {
  for (const [manner, says] of Object.entries(MANNERS)) {
    test(
      `[SC2] [HO5] [TK5] [RC2] he is told nothing but a nonce, each says what is wrong, and all come back when he leaves (${manner})`,
      staged(async (stage) => {
        const host = await stage.serve();
        const standbys = [await stage.standby(), await stage.standby()];
        const watcher = stage.spawn(["sessions", "--watch", "--json"]);
        await host.event("client-connected", ({ pid }) => pid === watcher.pid);
        const plugin = await stage.plugin("one");
        const token = tokenOf(stage);
        const waiting = [...standbys, watcher, plugin];
        for (const proc of waiting) proc.kill("SIGSTOP");
        await host.end("SIGKILL");
        const stranger = await openStranger(stage.port, manner as keyof typeof MANNERS);
        stage.defer(stranger.leave);
        for (const proc of waiting) proc.kill("SIGCONT");

        await Promise.all([
          ...[...standbys, watcher].map((proc) => proc.errSays(says.client)),
          plugin.errSays(says.plugin),
        ]);
        for (const { stderr } of waiting) expect(stderr).toContain(`ort ${stage.port} `);
        // A few are enough where each takes its time.
        const asked = manner === "mute" ? COMMANDS.slice(0, 2) : COMMANDS;
        const serve = stage.run(["serve"]);
        const ran = await Promise.all(asked.map((words) => stage.run(words)));
        expect(ran.map(({ code, stdout }) => ({ code, stdout }))).toEqual(asked.map(() => ({ code: 4, stdout: "" })));
        for (const { stderr } of ran) expect(stderr).toMatch(says.client);
        for (const { stderr } of ran) expect(stderr).toContain(`process ${process.pid} `);
        expect((await serve).code).toBe(4);
        expectNothingToldTo(stranger, token);

        await watcher.end("SIGTERM");
        stranger.leave();
        const next = await Promise.any(
          standbys.map(async (proc) => {
            await proc.event("role-changed", ({ role }) => role === "host");
            return proc;
          }),
        );
        await next.event("plugin-connected", ({ instanceId }) => instanceId === "one");
        expect((await stage.run(["exec", "typeof fooled"])).stdout).toBe("undefined\n");
      }),
      90_000,
    );
  }
});

test(
  "[CM3] [TK14] a host that dies while it is asked for its sessions is not taken for one without any",
  staged(async (stage) => {
    await stage.run(["status"]);
    await stage.run(["sessions", "--json"]);
    await stage.run(["stop"]);
    const lone = await openFaint(stage.port, tokenOf(stage));
    stage.defer(lone.leave);
    const { code, stdout, stderr } = await stage.run(["sessions", "--json", "--no-start"]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toContain("HOST_UNREACHABLE");
    expect(lone.frames.map(({ text }) => JSON.parse(text).type)).toEqual([
      "client-challenge",
      "client-hello",
      "list-sessions",
    ]);

    const shy = await openFaint(stage.port, tokenOf(stage));
    stage.defer(shy.leave);
    // With leave to start one, the command goes on there.
    expect(await stage.run(["sessions", "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
    await until("a background host", stage.hostPid);
  }),
  60_000,
);

test(
  "[TK4] [LI1] a 503 of a host that leaves is not taken for a full house because the next one is well already",
  staged(async (stage) => {
    const full = openCloser(stage.port, 60_000);
    stage.defer(full.leave);
    const turnedAway = await stage.run(["sessions", "--json"]);
    expect({ code: turnedAway.code, stdout: turnedAway.stdout }).toEqual({ code: 4, stdout: "" });
    expect(turnedAway.stderr).toContain("HOST_FULL");
    full.leave();
    const leaving = openCloser(stage.port, 0);
    stage.defer(leaving.leave);
    expect(await stage.run(["sessions", "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
    expect(leaving.requests.map(({ path }) => path)).toEqual(["/client", "/health"]);
  }),
  60_000,
);
