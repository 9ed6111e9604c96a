// What can a script rely on in what the binary prints?
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Proc } from "./process.ts";
import { type Ran, staged } from "./support.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Every line is an event of the one shape, numbered from 1 on. */
function expectEvents(stdout: string): void {
  const lines = stdout.split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.length).toBeGreaterThan(0);
  for (const [index, line] of lines.entries()) {
    const event = JSON.parse(line);
    expect(Object.keys(event)).toEqual(["seq", "at", "type", "data"]);
    expect(event.seq).toBe(index + 1);
    expect(event.at).toMatch(ISO);
    expect(event.type).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(event.data).toBeObject();
  }
}

function documentOf({ code, stdout, stderr }: Ran): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toEndWith("\n");
  expect(stdout.trimEnd()).not.toContain("\n");
  return JSON.parse(stdout);
}

const lastRole = ({ events }: Proc) => events.findLast(({ type }) => type === "role-changed")?.data["role"];

test(
  "[CM1] serve --json keeps its contract: the first event, then who comes and goes, in one shape",
  staged(async (stage) => {
    const host = stage.spawn(["serve", "--port", String(stage.port), "--json"]);
    await host.event("started");
    expect(host.stdout.split("\n")[0]).toMatch(
      new RegExp(
        `^\\{"seq":1,"at":"[^"]+","type":"started","data":\\{"port":${stage.port},"pid":${host.pid},"role":"host"\\}\\}$`,
      ),
    );
    const standby = await stage.standby();
    expect((await standby.event("started")).data).toEqual({ port: stage.port, pid: standby.pid, role: "client" });
    const plugin = await stage.plugin("one", "--name", "My Place");
    const came = await host.event("plugin-connected");
    const { sessionId } = (await plugin.event("connected")).data;
    const identity = { sessionId, instanceId: "one", context: "edit" };
    expect(came.data).toEqual({ ...identity, placeName: "My Place" });
    await plugin.end("SIGTERM");
    expect((await host.event("plugin-disconnected")).data).toEqual(identity);
    const client = await host.event("client-connected", ({ standing }) => standing === true);
    expect(client.data).toEqual({ clientId: client.data["clientId"], pid: standby.pid, standing: true });
    await stage.run(["sessions"]);
    await host.event("client-disconnected", ({ standing }) => standing === false);
    await host.end("SIGTERM");
    await standby.event("role-changed", ({ role }) => role === "host");
    expect(lastRole(standby)).toBe("host");
    await standby.end("SIGTERM");
    const types = [...new Set([...host.events, ...standby.events].map(({ type }) => type))].sort();
    expect(types).toEqual([
      "client-connected",
      "client-disconnected",
      "plugin-connected",
      "plugin-disconnected",
      "role-changed",
      "shutting-down",
      "started",
      "stopped",
    ]);
    for (const { stdout } of [host, standby, plugin]) expectEvents(stdout);
    for (const { stderr } of [host, standby, plugin]) expect(stderr).toBe("");
  }),
  60_000,
);

test(
  "[CM1] [HO1] --port 0 takes a free port, started tells which, and a successor binds that one",
  staged(async (stage) => {
    const host = await stage.serve("--port", "0");
    const port = Number((await host.event("started")).data["port"]);
    expect(port).toBeGreaterThan(0);
    const standby = await stage.standby("--port", String(port));
    expect((await standby.event("started")).data).toEqual({ port, pid: standby.pid, role: "client" });
    await host.end("SIGKILL");
    await standby.event("role-changed", (data) => data["role"] === "host" && data["port"] === port);
  }),
  60_000,
);

test(
  "[CM1] sessions --format json prints an array of exactly the promised fields",
  staged(async (stage) => {
    await stage.serve();
    const plugin = await stage.plugin("one", "--context", "server", "--name", "My Place");
    const sessions = documentOf(await stage.run(["sessions", "--format", "json"])) as Record<string, unknown>[];
    expect(sessions).toEqual([
      {
        kind: "plugin",
        sessionId: (await plugin.event("connected")).data["sessionId"],
        instanceId: "one",
        context: "server",
        placeName: "My Place",
        state: "Edit",
        capabilities: ["execute", "queryState", "queryDataModel", "queryLogs", "subscribe", "heartbeat"],
        connectedAt: sessions[0]?.["connectedAt"],
      },
    ]);
    expect(sessions[0]?.["connectedAt"]).toMatch(ISO);
    const fields = ["kind", "sessionId", "instanceId", "context", "placeName", "state", "capabilities", "connectedAt"];
    expect(Object.keys(sessions[0] ?? {})).toEqual(fields);
  }),
  60_000,
);

test(
  "[CM1] every command's JSON is one document on one line, and an error is one on stderr",
  staged(async (stage) => {
    const host = await stage.serve();
    const plugin = await stage.plugin("one");
    const { sessionId } = (await plugin.event("connected")).data;
    const file = join(stage.directory, "script.js");
    writeFileSync(file, "console.log('hi'); config = { users: ['ann'] }; 42");
    const json = async (...words: string[]) => documentOf(await stage.run([...words, "--format", "json"]));

    expect(await json("version")).toMatchObject({ version: expect.any(String), protocolVersion: 2 });
    expect(await json("help", "exec")).toEqual({ help: expect.stringContaining("Usage: holdfast exec CODE") });
    expect(await json("exec", "--help")).toEqual({ help: expect.stringContaining("Usage: holdfast exec CODE") });
    const output = [{ level: "Print", body: "hi", timestamp: expect.any(Number) }];
    expect(await json("run", file)).toEqual({ success: true, output, value: 42, sessionId });
    expect(await json("exec", "1 + 1")).toEqual({ success: true, output: [], value: 2, sessionId });
    expect(await json("state")).toEqual({ state: "Edit", placeId: 0, placeName: "JavaScript", gameId: 0 });
    expect(await json("query", "config", "--depth", "1")).toMatchObject({ instance: { name: "config" } });
    expect(await json("logs")).toEqual({ entries: output, total: 1, bufferCapacity: 1000 });
    expect(await json("doctor")).toContainEqual({ area: "port", level: "ok", text: expect.any(String), hint: null });
    expect(await json("config")).toMatchObject({ file: { exists: false }, settings: expect.any(Array) });
    expect(await json("completions", "fish")).toEqual({ shell: "fish", script: expect.any(String) });
    expect(await json("status")).toMatchObject({ pid: host.pid, port: stage.port, sessions: [{ sessionId }] });

    const failed = await stage.run(["exec", "missing", "--json"]);
    expect(failed).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(failed.stdout)).toMatchObject({ success: false, code: "SCRIPT_RUNTIME_ERROR" });
    const refused = await stage.run(["screenshot", "--json"]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(refused.stderr)).toEqual({
      error: { code: "CAPABILITY_NOT_SUPPORTED", message: expect.any(String), data: expect.any(Object) },
    });
    expect(await json("stop")).toEqual({ stopped: host.pid, next: null, cut: [], working: [], pinned: [], left: [] });
  }),
  60_000,
);

test(
  "[CM1] what streams is one event per line, whatever the command",
  staged(async (stage) => {
    const host = await stage.serve();
    const watchers = [
      ["sessions", "--watch"],
      ["status", "--watch"],
      ["logs", "--follow"],
    ].map((words) => stage.spawn([...words, "--json"]));
    const plugin = await stage.plugin("one");
    await Promise.all(watchers.map(({ pid }) => host.event("client-connected", (data) => data["pid"] === pid)));
    await stage.run(["exec", "setInterval(() => console.log('tick'), 20); 0"]);
    const [sessions, status, logs] = watchers as [Proc, Proc, Proc];
    await Promise.all([sessions.event("connected"), status.event("status"), logs.event("log")]);
    await plugin.end("SIGTERM");
    await sessions.event("disconnected");
    for (const watcher of watchers) expect(await watcher.end("SIGTERM")).toEqual({ code: 130, signal: null });
    for (const { stdout } of [...watchers, plugin]) expectEvents(stdout);
    expect((await logs.event("log")).data).toEqual({ level: "Print", body: "tick", timestamp: expect.any(Number) });
  }),
  60_000,
);

test(
  "[CM1] in a pipe there is no colour and nothing is shortened, in text as in JSON",
  staged(async (stage) => {
    await stage.serve();
    const long = "a-name-".repeat(30);
    await stage.plugin("one", "--name", long);
    const lines = [
      ["sessions"],
      ["status"],
      ["exec", "console.warn('careful'); console.log('x'); 1"],
      ["exec", "throw new Error('no')"],
      ["state"],
      ["logs"],
      ["query", "globalThis"],
      ["help", "exec"],
      ["nonsense"],
    ];
    const ran = await Promise.all(
      [...lines, ...lines.map((words) => [...words, "--json"])].map((words) => stage.run(words)),
    );
    expect(ran.filter(({ stdout, stderr }) => /\x1b/.test(stdout + stderr))).toEqual([]);
    const { stdout } = await stage.run(["sessions"]);
    expect(stdout).toContain(long);
    expect(stdout).toMatch(/^SESSION {2}/);
    expect(stdout).toMatch(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
  }),
  60_000,
);

test(
  "[CM1] only a flag asks for JSON, not a word within the code",
  staged(async (stage) => {
    await stage.serve();
    await stage.plugin("one");
    expect((await stage.run(["exec", "'try --format json'"])).stdout).toBe("try --format json\n");
    expect((await stage.run(["exec", "'a'", "--", "--json"])).code).toBe(2);
    const plain = await stage.run(["exec", "--", "--json"]);
    expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 1, stdout: "" });
    expect(plain.stderr).toContain("json is not defined");
  }),
  60_000,
);
