// Does the package's entry work for a program of one's own, with the real world inside?
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createState } from "../src/bridge/state.ts";
import { OUR_BACKOFF } from "../src/core/plugin-life.ts";
import { BridgeConnection, Fault, SessionDisconnectedError, SessionNotFoundError } from "../src/library.ts";
import { createSystemWorld } from "../src/platform/system.ts";
import { startPluginClient } from "../src/plugin/plugin-client.ts";

const quiet = { info() {}, warn() {} };
const world = createSystemWorld(quiet);
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  ends.push(() => rmSync(made, { recursive: true, force: true }));
  return join(made, "holdfast");
}

async function connect(port: number, stateDirectory: string): Promise<BridgeConnection> {
  const connection = await BridgeConnection.connect({ port, stateDirectory, standing: true, notice() {} });
  ends.push(() => connection.disconnect());
  return connection;
}

function plugin(
  port: number,
  stateDirectory: string,
  handle: (type: string) => Promise<never> | Promise<Answer>,
): void {
  const over = new AbortController();
  const client = startPluginClient(world, {
    port,
    token: createState(world, stateDirectory).token(),
    identity: { instanceId: "inst", context: "edit", placeName: "Test", pluginVersion: "1" },
    backoff: OUR_BACKOFF,
    actions: { capabilities: ["execute", "queryState"], state: () => "Edit", handle, disconnected() {} },
    signal: over.signal,
  });
  ends.push(() => {
    over.abort();
    return client.ended;
  });
}

type Answer = { type: string; payload: Record<string, unknown> };
const stateResult = (): Promise<Answer> => Promise.resolve({ type: "stateResult", payload: { state: "Edit" } });

describe("the library", () => {
  test("[LB1] the first connection hosts, the second is its client, both know the true port and the same sessions", async () => {
    const state = directory();
    const host = await connect(0, state);
    const client = await connect(host.port, state);
    expect([host.role, client.role]).toEqual(["host", "client"]);
    expect(client.port).toBe(host.port);
    expect(host.port).toBeGreaterThan(0);
    plugin(host.port, state, stateResult);
    const [one, two] = await Promise.all([host.waitForSession(), client.waitForSession()]);
    expect(one.info.sessionId).toBe(two.info.sessionId);
    expect(await one.queryState()).toEqual({ state: "Edit" });
    expect(await two.queryState()).toEqual({ state: "Edit" });
  });

  test("[LB1] [IF1] a client takes over when the host leaves, and says so; what was asked rejects at once", async () => {
    const state = directory();
    const host = await connect(0, state);
    const client = await connect(host.port, state);
    plugin(host.port, state, (type) => (type === "queryState" ? stateResult() : new Promise<never>(() => {})));
    const session = await client.waitForSession();
    const asked = session.exec("for ever").catch((thrown) => thrown);
    const changed = new Promise((resolve) => client.on("role-changed", resolve));
    await host.disconnect();
    expect(await asked).toBeInstanceOf(SessionDisconnectedError);
    expect(await changed).toMatchObject({ role: "host", previous: "client" });
    expect(client.role).toBe("host");
    const next = await client.waitForSession();
    expect(next.info.sessionId).not.toBe(session.info.sessionId);
    expect(await next.queryState()).toEqual({ state: "Edit" });
    expect(session.isConnected).toBe(false);
  });

  test("[LB1] unless it is asked to, it never stands in line: a host that leaves is not followed by a program", async () => {
    const state = directory();
    const host = await connect(0, state);
    const options = { port: host.port, stateDirectory: state, start: false, notice() {} };
    const client = await BridgeConnection.connect(options);
    ends.push(() => client.disconnect());
    expect((await host.status()).clients).toMatchObject([{ standing: false }]);
    const ended = new Promise((resolve) => client.on("ended", resolve));
    await host.disconnect();
    expect(await ended).toMatchObject({ error: { code: "HOST_UNREACHABLE" } });
    expect(client.role).toBe("client");
  });

  test("[LB1] whoever hosts hosts agents too", async () => {
    const host = await connect(0, directory());
    expect(await host.askAgents({ verb: "sessions" })).toEqual([]);
  });

  test("[LB1] errors are faults with a code, and waiting has an end", async () => {
    const host = await connect(0, directory());
    const thrown = await host.waitForSession(10).catch((error) => error);
    expect(thrown).toBeInstanceOf(SessionNotFoundError);
    expect(thrown).toBeInstanceOf(Fault);
    expect(thrown.code).toBe("SESSION_NOT_FOUND");
  });

  test("[LI1] what is too large to send is refused with a code, and the connection lives on", async () => {
    const state = directory();
    const host = await connect(0, state);
    const client = await connect(host.port, state);
    plugin(host.port, state, stateResult);
    const session = await client.waitForSession();
    const thrown = await session.exec("x".repeat(17 * 1024 * 1024)).catch((error) => error);
    expect(thrown).toBeInstanceOf(Fault);
    expect(thrown.code).toBe("INVALID_PAYLOAD");
    expect(await session.queryState()).toEqual({ state: "Edit" });
  });
});
