// Can a program use the bridge without knowing whether it hosts, and does it hear of every loss at once?
import { describe, expect, test } from "bun:test";
import {
  ActionTimeoutError,
  ContextNotFoundError,
  Fault,
  SessionDisconnectedError,
  SessionNotFoundError,
} from "../../src/protocol/fault.ts";
import { type Opened, open, openLine, PORT, watch } from "../support/bridges.ts";
import { connectPlugin, startPlugin } from "../support/fake-plugin.ts";
import { createMachine, type Machine } from "../support/fake-world.ts";

function pair(machine: Machine): Record<"host" | "client", Opened> {
  const [host, client] = openLine(machine, 1);
  return { host, client: client as Opened };
}

describe("the same in both roles", () => {
  for (const role of ["host", "client"] as const) {
    test(`[LB1] as ${role}: role, true port, sessions, instances, getSession, actions and status`, () => {
      const machine = createMachine();
      const peers = pair(machine);
      const { bridge } = peers[role];
      const plugin = connectPlugin(machine, { instanceId: "inst-9", context: "server" });
      expect(bridge.role).toBe(role);
      expect(bridge.port).toBe(PORT);
      expect(bridge.isConnected).toBe(true);
      expect(bridge.hostPid).toBe(peers.host.process.pid);
      expect(bridge.listSessions()).toMatchObject([{ sessionId: plugin.client.sessionId, instanceId: "inst-9" }]);
      expect(bridge.listInstances()).toMatchObject([{ instanceId: "inst-9", contexts: ["server"] }]);
      const session = machine.wait(bridge.waitForSession());
      expect(bridge.getSession(plugin.client.sessionId)).toBe(session);
      expect(bridge.getSession("none")).toBeUndefined();
      expect(machine.wait(bridge.resolveSession({ context: "server" }))).toBe(session);
      expect(machine.wait(session.queryState())).toMatchObject({ state: "Edit" });
      expect(machine.wait(bridge.status())).toMatchObject({ port: PORT, pid: peers.host.process.pid });
    });

    test(`[LB1] as ${role}: session-connected and session-disconnected are told`, () => {
      const machine = createMachine();
      const { told } = pair(machine)[role];
      const plugin = connectPlugin(machine);
      plugin.end();
      machine.advance(10);
      expect(told.map(({ name }) => name)).toEqual(["session-connected", "session-disconnected"]);
      expect(told.map(({ data }) => data)).toMatchObject([{ instanceId: "inst-1" }, { instanceId: "inst-1" }]);
    });
  }

  test("[LB1] with port 0 the port told is the one that was taken, and others join there", () => {
    const machine = createMachine();
    const host = open(machine, { port: 0 });
    expect(host.bridge.port).toBeGreaterThan(0);
    const client = open(machine, { port: host.bridge.port });
    expect([client.bridge.role, client.bridge.port]).toEqual(["client", host.bridge.port]);
  });

  test("[HO1] the successor of a host on a free port binds that one", () => {
    const machine = createMachine();
    const host = open(machine, { port: 0 });
    const { port } = host.bridge;
    const client = open(machine, { port });
    host.process.kill();
    machine.until(() => client.bridge.role === "host");
    expect([client.bridge.port, machine.holder(port)?.pid]).toEqual([port, client.process.pid]);
  });

  for (const role of ["host", "client"] as const) {
    test(`[LB1] as ${role}: stopHost asks the host to end, and tells its pid and how many stand in line`, () => {
      const machine = createMachine();
      let asked = 0;
      const host = open(machine, { listener: { stopAsked: () => void asked++ } });
      const client = open(machine);
      const { bridge } = { host, client }[role];
      expect(machine.wait(bridge.stopHost())).toEqual({ pid: host.process.pid, standing: 1, left: [] });
      expect(asked).toBe(1);
    });
  }

  test("[LB1] who disconnects in the middle of a takeover is told ended once, and takes nothing over", () => {
    const machine = createMachine();
    const { host, client } = pair(machine);
    host.process.kill({ lingerMs: 100 });
    machine.advance(20);
    machine.wait(client.bridge.disconnect());
    machine.advance(60_000);
    expect(client.told.map(({ name }) => name)).toEqual(["host-lost", "ended"]);
    expect(machine.holder(PORT)).toBeUndefined();
  });

  test("[LB1] disconnect ends it once: pending requests reject, ended is told, a host frees its port", () => {
    const machine = createMachine();
    const { host, client } = pair(machine);
    const plugin = connectPlugin(machine);
    plugin.mute.add("execute");
    const exec = watch(machine.wait(client.bridge.waitForSession()).exec("1"));
    machine.wait(Promise.all([client.bridge.disconnect(), client.bridge.disconnect()]));
    expect(exec.error).toBeInstanceOf(SessionDisconnectedError);
    expect(client.told.map(({ name }) => name)).toEqual(["session-connected", "session-disconnected", "ended"]);
    expect(client.bridge.isConnected).toBe(false);
    machine.wait(host.bridge.disconnect());
    expect(machine.holder(PORT)).toBeUndefined();
    machine.advance(60_000);
    expect(client.states).toEqual([]);
  });
});

describe("resolving", () => {
  test("[LB2] nobody there: it waits, and takes the first that comes", () => {
    const machine = createMachine();
    const { client } = pair(machine);
    const waiting = client.bridge.resolveSession({}, 10_000);
    const watched = watch(waiting);
    machine.advance(9_000);
    expect(watched.state).toBe("pending");
    const plugin = connectPlugin(machine);
    expect(machine.wait(waiting).info.sessionId).toBe(plugin.client.sessionId);
  });

  test("[LB2] nobody comes: SessionNotFoundError when the time is over, not before", () => {
    const machine = createMachine();
    const { client } = pair(machine);
    const resolving = watch(client.bridge.resolveSession({}, 10_000));
    const waiting = watch(client.bridge.waitForSession(10_000));
    machine.advance(9_999);
    expect([resolving.state, waiting.state]).toEqual(["pending", "pending"]);
    machine.advance(1);
    expect(resolving.error).toBeInstanceOf(SessionNotFoundError);
    expect(waiting.error).toBeInstanceOf(SessionNotFoundError);
  });

  test("[LB2] a context that is not there is waited for, then ContextNotFoundError", () => {
    const machine = createMachine();
    const { client } = pair(machine);
    connectPlugin(machine, { context: "edit" });
    const failing = watch(client.bridge.resolveSession({ context: "server" }, 1_000));
    machine.advance(1_000);
    expect(failing.error).toBeInstanceOf(ContextNotFoundError);
    const found = client.bridge.resolveSession({ context: "server" }, 1_000);
    const server = startPlugin(machine, { context: "server" });
    expect(machine.wait(found).info.sessionId).toBe(server.client.sessionId);
  });

  test("[LB2] several instances are an error at once, which lists them", () => {
    const machine = createMachine();
    const { client } = pair(machine);
    const plugins = ["one", "two"].map((instanceId) => connectPlugin(machine, { instanceId }));
    const resolving = watch(client.bridge.resolveSession());
    machine.advance(0);
    expect(resolving.error).toBeInstanceOf(Fault);
    const ids = plugins.map(({ client: { sessionId } }) => sessionId);
    expect(resolving.error).toMatchObject({ code: "SESSION_AMBIGUOUS", data: { sessions: ids } });
    for (const id of ids) expect((resolving.error as Fault).message).toContain(id);
  });
});

describe("requests in flight", () => {
  function inFlight(options: { count?: number; as?: "host" | "client" } = {}) {
    const machine = createMachine();
    const peers = pair(machine);
    const caller = peers[options.as ?? "client"];
    const plugin = connectPlugin(machine);
    plugin.mute.add("execute");
    const session = machine.wait(caller.bridge.waitForSession());
    const asked = Array.from({ length: options.count ?? 5 }, (_, index) => watch(session.exec(`${index}`)));
    machine.advance(10);
    expect(plugin.asked).toHaveLength(asked.length);
    return { machine, ...peers, caller, plugin, session, asked };
  }

  test("[IF1] a crash of the host rejects all of them with the session's own SessionDisconnectedError", () => {
    const { machine, host, session, asked } = inFlight();
    host.process.kill();
    machine.advance(1);
    for (const { error } of asked) {
      expect(error).toBeInstanceOf(SessionDisconnectedError);
      expect((error as SessionDisconnectedError).sessionId).toBe(session.info.sessionId);
      expect((error as Error).message).toContain(session.info.sessionId);
      expect((error as Error).message).toContain("waitForSession()");
    }
  });

  for (const graceful of [true, false]) {
    test(`[IF1] they are rejected before any bind is tried, after a ${graceful ? "graceful end" : "crash"}`, () => {
      const { machine, host, client, session } = inFlight();
      const order: string[] = [];
      const { net } = client.process.world;
      const { bind } = net;
      net.bind = (options) => {
        order.push("bind");
        return bind(options);
      };
      session.exec("last").catch(() => void order.push("rejected"));
      machine.advance(1);
      if (graceful) void host.bridge.disconnect();
      else host.process.kill();
      machine.until(() => client.bridge.role === "host");
      expect(order.slice(0, 2)).toEqual(["rejected", "bind"]);
    });
  }

  test("[IF1] a graceful end of the host rejects them too, within its 250 ms for what is in flight", () => {
    const { machine, host, asked } = inFlight();
    const start = machine.now;
    void host.bridge.disconnect();
    machine.until(() => asked.every(({ state }) => state === "failed"));
    expect(machine.now - start).toBeWithin(250, 260);
    for (const { error } of asked) expect(error).toBeInstanceOf(SessionDisconnectedError);
  });

  for (const as of ["host", "client"] as const) {
    test(`[IF1] the loss of the plugin alone rejects them at once, asked by the ${as}`, () => {
      const { machine, caller, plugin, session, asked } = inFlight({ as });
      plugin.process.kill();
      machine.advance(1);
      for (const { error } of asked) expect(error).toBeInstanceOf(SessionDisconnectedError);
      expect(session.isConnected).toBe(false);
      expect(caller.bridge.isConnected).toBe(true);
    });

    test(`[IF1] ActionTimeoutError means that host and plugin were there, asked by the ${as}`, () => {
      const { machine, session, plugin } = inFlight({ as, count: 1 });
      const asked = watch(session.exec("slow", { timeoutMs: 700 }));
      machine.advance(699);
      expect(asked.state).toBe("pending");
      machine.advance(2);
      expect(asked.error).toBeInstanceOf(ActionTimeoutError);
      expect(asked.error).toMatchObject({ data: { action: "execute", timeoutMs: 700 } });
      expect(plugin.client.life.state).toBe("connected");
    });
  }

  test("[IF1] a host that hangs ends them as lost, never as a timeout, however short their own time", () => {
    const { machine, host, session } = inFlight({ count: 1 });
    host.process.freeze();
    const asked = watch(session.queryState({ timeoutMs: 100 }));
    machine.until(() => asked.state === "failed");
    expect(asked.error).toBeInstanceOf(SessionDisconnectedError);
  });
});
