// Do plugins and what hangs on them come back after a takeover, each for itself?
import { describe, expect, test } from "bun:test";
import type { PluginMessage } from "../../src/plugin/plugin-client.ts";
import { SessionDisconnectedError } from "../../src/protocol/fault.ts";
import { type Opened, open, openLine, watch } from "../support/bridges.ts";
import { connectPlugin, startPlugin } from "../support/fake-plugin.ts";
import { createMachine } from "../support/fake-world.ts";

const CONTEXTS = ["edit", "server", "client"] as const;
const log = (body: string): PluginMessage => ({
  type: "logPush",
  payload: { entry: { level: "Print", body, timestamp: 1 } },
});

function failover(graceful: boolean) {
  const machine = createMachine();
  const [host, heir] = openLine(machine, 1) as [Opened, Opened];
  const fall = (): void => {
    if (graceful) void host.bridge.disconnect();
    else host.process.kill();
    machine.until(() => heir.bridge.role === "host");
  };
  return { machine, host, heir, fall };
}

describe("coming back", () => {
  for (const graceful of [true, false]) {
    test(`[RC2] after a ${graceful ? "graceful end" : "crash"}: same instance and context, a fresh session id`, () => {
      const { machine, heir, fall } = failover(graceful);
      const plugin = connectPlugin(machine, { instanceId: "inst-7", context: "server" });
      const before = plugin.client.sessionId;
      fall();
      expect(heir.bridge.listSessions()).toEqual([]);
      machine.until(() => heir.bridge.listSessions().length === 1);
      machine.advance(1);
      const [session] = heir.bridge.listSessions();
      expect(session).toMatchObject({ instanceId: "inst-7", context: "server" });
      expect(session?.sessionId).toBe(plugin.client.sessionId);
      expect(session?.sessionId).not.toBe(before);
    });
  }

  test("[RC4] three contexts of one instance come back independently and group under it", () => {
    const { machine, heir, fall } = failover(false);
    for (const [index, context] of CONTEXTS.entries()) {
      connectPlugin(machine, { context, backoff: { firstMs: 100 * 10 ** index, capMs: 60_000 } });
    }
    fall();
    const start = machine.now;
    const seen: (readonly string[])[] = [];
    for (const count of [1, 2, 3]) {
      machine.until(() => heir.bridge.listSessions().length === count);
      seen.push(heir.bridge.listInstances()[0]?.contexts ?? []);
      expect(heir.bridge.listInstances()).toHaveLength(1);
    }
    expect(seen).toEqual([["edit"], ["edit", "server"], ["edit", "server", "client"]]);
    expect(machine.now - start).toBeGreaterThan(9_000);
  });

  test("[RC4] those that are back can be used while others are still away", () => {
    const { machine, heir, fall } = failover(false);
    connectPlugin(machine, { context: "edit", backoff: { firstMs: 50, capMs: 50 } });
    const slow = connectPlugin(machine, { context: "server", backoff: { firstMs: 5_000, capMs: 5_000 } });
    fall();
    const session = machine.wait(heir.bridge.resolveSession());
    expect(session.info.context).toBe("edit");
    expect(machine.wait(session.exec("40 + 2"))).toMatchObject({ success: true, value: "40 + 2" });
    expect(slow.client.life.state).toBe("reconnecting");
    expect(machine.wait(heir.bridge.resolveSession({ context: "server" })).isConnected).toBe(true);
  });

  test("[RC5] with no client left it polls on until any process becomes host", () => {
    const machine = createMachine();
    const host = open(machine);
    const plugin = connectPlugin(machine);
    host.process.kill();
    machine.advance(3_600_000);
    expect(plugin.client.life.state).toBe("searching");
    const next = open(machine);
    machine.until(() => next.bridge.listSessions().length === 1, 2_100);
    machine.advance(1);
    expect(plugin.client.life.state).toBe("connected");
  });

  test("[TK11] an action that was lost can be asked again on the session that comes back", () => {
    const { machine, host, heir } = failover(false);
    const plugin = connectPlugin(machine);
    plugin.mute.add("queryState");
    const session = machine.wait(heir.bridge.waitForSession());
    const asked = watch(session.queryState());
    machine.advance(5);
    host.process.kill();
    machine.until(() => asked.state === "failed");
    expect(asked.error).toBeInstanceOf(SessionDisconnectedError);
    plugin.mute.clear();
    const again = machine.wait(heir.bridge.waitForSession(5_000));
    expect(again).not.toBe(session);
    expect(machine.wait(again.queryState())).toMatchObject({ state: "Edit" });
  });
});

describe("subscriptions", () => {
  test("[RC3] they are gone after a reconnect: nothing is pushed until the consumer subscribes again", () => {
    const { machine, heir, fall } = failover(false);
    const plugin = connectPlugin(machine);
    const heard: unknown[] = [];
    const session = machine.wait(heir.bridge.waitForSession());
    session.onPush(({ payload }) => void heard.push(payload["entry"]));
    machine.wait(session.subscribe(["logPush"]));
    plugin.client.push(log("before"));
    machine.advance(5);
    expect(heard).toHaveLength(1);
    fall();
    expect(plugin.subscribed.size).toBe(0);
    const again = machine.wait(heir.bridge.waitForSession());
    again.onPush(({ payload }) => void heard.push(payload["entry"]));
    plugin.client.push(log("unheard"));
    machine.advance(5);
    expect(heard).toHaveLength(1);
    machine.wait(again.subscribe(["logPush"]));
    plugin.client.push(log("after"));
    machine.advance(5);
    expect(heard).toMatchObject([{ body: "before" }, { body: "after" }]);
  });

  test("[PL7] in the host's own process and on a client's socket alike, and the last one out unsubscribes", () => {
    const machine = createMachine();
    const [host, client] = openLine(machine, 1) as [Opened, Opened];
    const plugin = connectPlugin(machine);
    const heard: string[] = [];
    for (const [name, { bridge }] of Object.entries({ host, client })) {
      const session = machine.wait(bridge.waitForSession());
      session.onPush(({ type }) => void heard.push(`${name} ${type}`));
      machine.wait(session.subscribe(["logPush"]));
    }
    plugin.client.push(log("both"));
    machine.advance(5);
    expect(heard.toSorted()).toEqual(["client logPush", "host logPush"]);
    machine.wait(client.bridge.disconnect());
    machine.advance(5);
    expect(plugin.subscribed.has("logPush")).toBe(true);
    machine.wait(machine.wait(host.bridge.waitForSession()).unsubscribe(["logPush"]));
    expect(plugin.subscribed.size).toBe(0);
  });
});

describe("being told", () => {
  test("[IF3] at the loss every session is marked, and session-disconnected is told for each", () => {
    const machine = createMachine();
    const [host, client] = openLine(machine, 1) as [Opened, Opened];
    const ids = CONTEXTS.map((context) => connectPlugin(machine, { context }).client.sessionId);
    const sessions = ids.map((id) => client.bridge.getSession(id));
    host.process.kill();
    machine.until(() => client.told.some(({ name }) => name === "host-lost"));
    expect(sessions.map((session) => session?.isConnected)).toEqual([false, false, false]);
    const gone = client.told.filter(({ name }) => name === "session-disconnected").map(({ data }) => data);
    expect(gone).toMatchObject(ids.map((sessionId) => ({ sessionId })));
    expect(client.bridge.listSessions()).toEqual([]);
  });

  test("[IF3] a listener that throws keeps neither the other sessions nor the takeover from going on", () => {
    const machine = createMachine();
    const [host, client] = openLine(machine, 1) as [Opened, Opened];
    const ids = CONTEXTS.map((context) => connectPlugin(machine, { context }).client.sessionId);
    const sessions = ids.map((id) => client.bridge.getSession(id));
    sessions[0]?.onGone(() => {
      throw new Error("a listener's own mistake");
    });
    host.process.kill();
    machine.until(() => client.bridge.role === "host");
    expect(sessions.map((session) => session?.isConnected)).toEqual([false, false, false]);
    expect(client.process.log.map(({ message }) => message)).toContain("A listener threw");
  });

  test("[PL7] a push listener that throws keeps no other client from hearing", () => {
    const machine = createMachine();
    const [host, client] = openLine(machine, 1) as [Opened, Opened];
    const plugin = connectPlugin(machine);
    const own = machine.wait(host.bridge.waitForSession());
    own.onPush(() => {
      throw new Error("a listener's own mistake");
    });
    const heard: string[] = [];
    const other = machine.wait(client.bridge.waitForSession());
    other.onPush(({ type }) => void heard.push(type));
    for (const session of [own, other]) machine.wait(session.subscribe(["logPush"]));
    plugin.client.push(log("hello"));
    machine.advance(5);
    expect(heard).toEqual(["logPush"]);
  });

  test("[LB1] a plugin that changes its state is told as session-changed, and info follows", () => {
    const machine = createMachine();
    const [, client] = openLine(machine, 1) as [Opened, Opened];
    const plugin = startPlugin(machine);
    const session = machine.wait(client.bridge.waitForSession());
    plugin.client.push({ type: "stateChange", payload: { previousState: "Edit", newState: "Run" } });
    machine.advance(5);
    expect(session.info.state).toBe("Run");
    expect(client.told.at(-1)).toMatchObject({ name: "session-changed", data: { state: "Run" } });
  });
});
