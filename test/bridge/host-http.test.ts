// Which address and port does a host take, and what does it say to plain HTTP?
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { startHost } from "../../src/bridge/host.ts";
import { createSystemWorld } from "../../src/platform/system.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { openPeer } from "../fixtures/peer.ts";
import { envelope, openClient, openPlugin } from "../fixtures/people.ts";
import { askRaw, getRequest } from "../fixtures/raw-http.ts";
import { upgradeRequest } from "../fixtures/raw-peer.ts";
import { hostOptions, runHost, TOKEN } from "../fixtures/running-host.ts";
import { createTurnedClock } from "../fixtures/turned-clock.ts";

setDefaultTimeout(60_000);

const listen = (port: number, host: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(port, host, () => resolve(server));
  });

const statusOf = async (client: Awaited<ReturnType<typeof openClient>>) => {
  client.send({ type: "host-status", requestId: "status" });
  return (await client.next("host-status-response"))["status"] as { addresses: object[] };
};

const tryStart = (port: number) =>
  startHost(createSystemWorld({ info() {}, warn() {} }), hostOptions({ port }), {
    session() {},
    clientEntered() {},
    clientLeft() {},
    stopAsked() {},
    endsWhenIdle: () => null,
    seal() {},
  });

test("[HO1] port 0 takes a free port and tells the true one everywhere", async () => {
  using running = runHost();
  expect(running.port).toBeGreaterThan(0);
  const health = await fetch(`http://127.0.0.1:${running.port}/health`);
  expect(((await health.json()) as { port: number }).port).toBe(running.port);
  const client = await openClient(running);
  expect(await statusOf(client)).toMatchObject({ port: running.port });
});

test("[HO1] 127.0.0.1 is bound once and the bound socket is kept to the end", async () => {
  const bound: string[] = [];
  const { net } = createSystemWorld({ info() {}, warn() {} });
  const bind: typeof net.bind = (options) => {
    bound.push(options.address);
    return net.bind(options);
  };
  using running = runHost({ world: { net: { ...net, bind } } });
  const client = await openClient(running);
  await client.settled();
  expect(bound.filter((address) => address === "127.0.0.1")).toEqual(["127.0.0.1"]);
});

test("[HO2] the address is the literal 127.0.0.1, and [::1] is served as a courtesy", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const client = await openClient(running);
  expect((await statusOf(client)).addresses).toEqual([
    { address: "127.0.0.1", listening: true },
    { address: "[::1]", listening: false },
  ]);
  clock.advance(0);
  expect((await statusOf(client)).addresses).toEqual([
    { address: "127.0.0.1", listening: true },
    { address: "[::1]", listening: true },
  ]);
  expect((await askRaw(running.port, getRequest("/health", { Host: "[::1]" }), "::1")).status).toBe(200);
  const plugin = await openPeer(`ws://[::1]:${running.port}/plugin`);
  plugin.send({ type: "hello", sessionId: "by-v6", payload: {} });
  expect((await plugin.next("welcome"))["sessionId"]).toBe("by-v6");
  expect(running.host.sessions).toBe(1);
});

test("[HO2] no other address of this machine is listened on", async () => {
  using running = runHost();
  const table = readFileSync("/proc/net/tcp", "utf8");
  const port = running.port.toString(16).toUpperCase().padStart(4, "0");
  const listening = table.split("\n").filter((line) => new RegExp(`^\\s*\\d+: [0-9A-F]+:${port} .{13} 0A`).test(line));
  expect(listening.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${port}`]);
});

test("[HO2] a taken [::1] does not fail the start, status says so, and it is retried until it is free", async () => {
  const squatter = await listen(0, "::1");
  const { port } = squatter.address() as { port: number };
  const clock = createTurnedClock();
  using running = runHost({ port, world: { clock } });
  clock.advance(0);
  const client = await openClient(running);
  const ipv6 = async () => (await statusOf(client)).addresses[1];
  const taken = { address: "[::1]", listening: false, note: "taken by another process, tried again every second" };
  expect(await ipv6()).toEqual(taken);
  clock.advance(3_000);
  expect(await ipv6()).toEqual(taken);
  expect(running.logs.filter((line) => line.includes("[::1]")).length).toBe(1);
  await new Promise((resolve) => squatter.close(resolve));
  clock.advance(999);
  expect(await ipv6()).toEqual(taken);
  clock.advance(1);
  expect(await ipv6()).toEqual({ address: "[::1]", listening: true });
  expect((await askRaw(port, getRequest("/health"), "::1")).status).toBe(200);
});

test("[HO3] two hosts cannot hold one port, and the loser leaves nothing behind", async () => {
  using first = runHost();
  expect(tryStart(first.port)).toEqual({ kind: "taken" });
  expect((await askRaw(first.port, getRequest("/health"))).status).toBe(200);
  first.host.forceClose();
  const second = tryStart(first.port);
  expect(second.kind).toBe("hosting");
  if (second.kind === "hosting") second.host.forceClose();
});

test("[HO3] the bind says that SO_REUSEADDR stays on, and reusePort is never set anywhere", async () => {
  const source = await Bun.file("src/platform/listen.ts").text();
  const bind = source.slice(source.indexOf("try {"), source.indexOf("Bun.serve"));
  expect(bind).toMatch(/\/\/ SO_REUSEADDR is on by default and must stay so/);
  for await (const path of new Bun.Glob("src/**/*.ts").scan()) {
    expect(await Bun.file(path).text(), path).not.toMatch(/reusePort["']?\s*[:=]/);
  }
});

test("[HE1] /health has exactly these fields, counts sessions, and tells nothing secret", async () => {
  const at = performance.now();
  using running = runHost({ pluginToken: "plugin-secret" });
  const plugin = await openPlugin(running, { query: "?token=plugin-secret" });
  const answer = await fetch(`http://127.0.0.1:${running.port}/health`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  const text = await answer.text();
  const { uptime, hostUptime, ...rest } = JSON.parse(text) as { uptime: number; hostUptime: number };
  expect(rest).toEqual({
    status: "ok",
    port: running.port,
    sessions: 1,
    lastFailoverAt: null,
    protocolVersion: 2,
    serverVersion: VERSION,
  } as unknown as typeof rest);
  expect(uptime).toBeGreaterThanOrEqual(Math.floor(at));
  expect(hostUptime).toBeLessThanOrEqual(performance.now() - at + 1);
  for (const secret of [TOKEN, "plugin-secret", "session-1", "inst-1", "TestPlace"]) expect(text).not.toContain(secret);
  plugin.close();
});

test("[HE1] a host that took over says when it did", async () => {
  using running = runHost({ failover: true });
  const body = (await (await fetch(`http://127.0.0.1:${running.port}/health`)).json()) as { lastFailoverAt: string };
  expect(new Date(body.lastFailoverAt).toISOString()).toBe(body.lastFailoverAt);
  expect(Math.abs(Date.now() - Date.parse(body.lastFailoverAt))).toBeLessThan(30_000);
});

test("[HE1] /health and new upgrades are 503 from the first step of shutdown on, while work is still in flight", async () => {
  const clock = createTurnedClock();
  using running = runHost({ world: { clock } });
  const plugin = await openPlugin(running);
  const client = await openClient(running);
  client.send(envelope("slow", "session-1", "execute", { script: "1" }));
  await plugin.next("execute");
  void running.host.shutdown();
  const health = await askRaw(running.port, getRequest("/health"));
  expect({ status: health.status, body: health.body }).toEqual({ status: 503, body: "" });
  for (const path of ["/client", "/plugin"]) {
    expect((await askRaw(running.port, upgradeRequest(path))).status, path).toBe(503);
  }
});

test("[HE2] everything else is 404 text, also upgrades elsewhere and other methods", async () => {
  using running = runHost();
  for (const path of ["/", "/health/", "/healthz", "/plugin", "/client", "/plugin/x", "/favicon.ico", "//health"]) {
    const answer = await askRaw(running.port, getRequest(path));
    expect({ path, status: answer.status, body: answer.body }).toEqual({ path, status: 404, body: "Not Found" });
    expect(answer.text).toMatch(/content-type: text\/plain/i);
  }
  for (const path of ["/", "/health", "/other", "/clientx", "/plugin/"]) {
    expect((await askRaw(running.port, upgradeRequest(path))).status, path).toBe(404);
  }
  const post = getRequest("/health").replace("GET", "POST");
  expect((await askRaw(running.port, post)).status).toBe(404);
});

test("[HE2] routes go by the path alone: a query changes nothing", async () => {
  using running = runHost();
  expect((await askRaw(running.port, getRequest("/health?x=1"))).status).toBe(200);
  expect((await askRaw(running.port, upgradeRequest("/client?x=1"))).status).toBe(101);
});
