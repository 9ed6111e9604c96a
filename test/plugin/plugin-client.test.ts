// Does a plugin find its way back to whoever hosts, at the right pace, and believe nobody else?
import { describe, expect, test } from "bun:test";
import type { Attach, Socket } from "../../src/platform/world.ts";
import type { PluginFrame } from "../../src/protocol/plugin.ts";
import { type Opened, open, openLine, PORT, stateOf } from "../support/bridges.ts";
import { createFakeFiles } from "../support/fake-files.ts";
import { connectPlugin, startPlugin } from "../support/fake-plugin.ts";
import { createMachine, type FakeProcess, type Machine } from "../support/fake-world.ts";
import { squat } from "../support/squatter.ts";

/** When this process looks for a host, counted from now. */
function pollsOf(machine: Machine, { world }: FakeProcess): number[] {
  const start = machine.now;
  const polls: number[] = [];
  const { probe } = world.net;
  world.net.probe = (port, timeoutMs) => {
    polls.push(machine.now - start);
    return probe(port, timeoutMs);
  };
  return polls;
}

/** A host by hand, which welcomes every plugin and remembers what it said. */
function handHost(machine: Machine) {
  const heard: PluginFrame[] = [];
  const sockets: Socket[] = [];
  const process = machine.process();
  const attach: Attach = (socket) => {
    sockets.push(socket);
    return {
      message(text) {
        const frame = JSON.parse(text) as PluginFrame;
        heard.push(frame);
        const { sessionId } = frame;
        if (frame.type === "register") tell({ type: "welcome", sessionId, payload: { sessionId } });
      },
      pong() {},
      closed() {},
    };
  };
  const tell = (message: Record<string, unknown>): void => sockets.at(-1)?.send(JSON.stringify(message));
  const bind = () =>
    process.world.net.bind({
      address: "127.0.0.1",
      port: PORT,
      frameBytes: 1,
      waitingBytes: 1,
      answer: ({ upgrade }) => (upgrade ? { kind: "upgrade", attach } : { kind: "json", status: 200, body: {} }),
    });
  bind();
  return { process, heard, sockets, tell };
}

describe("after a loss", () => {
  test("[RC1] a crash: reconnecting for 1 s, then searching, connecting, connected", () => {
    const machine = createMachine();
    const [host, heir] = openLine(machine, 1) as [Opened, Opened];
    const plugin = connectPlugin(machine);
    const before = plugin.lives.length;
    const start = machine.now;
    host.process.kill();
    machine.until(() => heir.bridge.role === "host");
    machine.until(() => heir.bridge.listSessions().length === 1);
    machine.advance(1);
    const lives = plugin.lives.slice(before);
    expect(lives.map(({ life }) => life.state)).toEqual(["reconnecting", "searching", "connecting", "connected"]);
    expect(lives.map(({ at }) => Math.floor(at - start))).toEqual([0, 1_000, 1_000, 1_000]);
  });

  test("[RC1] a graceful end: straight to searching, and back within milliseconds", () => {
    const machine = createMachine();
    const [host, heir] = openLine(machine, 1) as [Opened, Opened];
    const plugin = connectPlugin(machine);
    const before = plugin.states.length;
    const start = machine.now;
    void host.bridge.disconnect();
    machine.until(() => heir.bridge.role === "host");
    machine.until(() => heir.bridge.listSessions().length === 1);
    machine.advance(1);
    expect(plugin.states.slice(before)).toEqual(["searching", "connecting", "connected"]);
    expect(machine.now - start).toBeLessThan(60);
  });

  test("[RC1] the message shutdown is a graceful end, though the close says nothing of it", () => {
    const machine = createMachine();
    const host = handHost(machine);
    const plugin = connectPlugin(machine, { token: undefined });
    const before = plugin.states.length;
    host.tell({ type: "shutdown", sessionId: plugin.client.sessionId, payload: {} });
    machine.advance(10);
    expect(plugin.states[before]).toBe("searching");
  });

  test("[RC1] each failure in a row waits longer: 2, 4, 8, 16, 30, 30 s", () => {
    const machine = createMachine();
    open(machine, { process: machine.process({ files: createFakeFiles() }) });
    const plugin = startPlugin(machine);
    machine.advance(85_000);
    const waits = plugin.lives.flatMap(({ life }) => (life.state === "reconnecting" ? [life.ms] : []));
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test("[RC2] it looks at 0, 50, 100, 200, 400 ms, then every 2 s, for as long as it takes", () => {
    const machine = createMachine();
    const process = machine.process();
    const polls = pollsOf(machine, process);
    const plugin = startPlugin(machine, { process });
    machine.advance(60_000);
    expect(polls[0]).toBe(0);
    // Each look itself takes a little while in this world.
    expect(polls.slice(0, 8).map((at) => Math.floor(at / 50) * 50)).toEqual([
      0, 50, 100, 200, 400, 2_400, 4_400, 6_400,
    ]);
    expect(polls.length).toBeGreaterThan(30);
    expect(plugin.client.life.state).toBe("searching");
  });

  test("[RC2] a health that is not 200 is no host yet", () => {
    const machine = createMachine();
    const squatter = squat(machine, "closing");
    const plugin = startPlugin(machine);
    machine.advance(10_000);
    expect(plugin.states).toEqual([]);
    squatter?.kill();
    const host = open(machine);
    machine.until(() => host.bridge.listSessions().length === 1, 2_100);
  });

  test("[RC2] it registers with the same instance and context and a fresh session id each time", () => {
    const machine = createMachine();
    const host = handHost(machine);
    const plugin = connectPlugin(machine, { token: undefined, instanceId: "inst-3", context: "client" });
    host.sockets.at(-1)?.cut();
    machine.advance(2_000);
    expect(plugin.client.life.state).toBe("connected");
    const registers = host.heard.filter(({ type }) => type === "register");
    expect(registers.map(({ payload }) => [payload["instanceId"], payload["context"]])).toEqual([
      ["inst-3", "client"],
      ["inst-3", "client"],
    ]);
    expect(new Set(registers.map(({ sessionId }) => sessionId)).size).toBe(2);
    expect(plugin.client.sessionId).toBe(registers[1]?.sessionId ?? "");
  });

  test("[RC3] its subscriptions end with the connection, and pushes without one are dropped", () => {
    const machine = createMachine();
    const host = open(machine);
    const plugin = connectPlugin(machine);
    machine.wait(machine.wait(host.bridge.waitForSession()).subscribe(["logPush"]));
    expect([...plugin.subscribed]).toEqual(["logPush"]);
    host.process.kill();
    machine.advance(1);
    expect(plugin.subscribed.size).toBe(0);
    expect(plugin.client.sessionId).toBe("");
    plugin.client.push({ type: "logPush", payload: {} });
  });

  test("[TK10] a host that hangs is left after three pings", () => {
    const machine = createMachine();
    const host = open(machine);
    const plugin = connectPlugin(machine);
    host.process.freeze();
    machine.advance(19_000);
    expect(plugin.client.life.state).toBe("connected");
    machine.advance(1_000);
    expect(plugin.client.life.state).toBe("reconnecting");
    host.process.thaw();
    machine.until(() => plugin.client.life.state === "connected");
  });
});

describe("believing", () => {
  test("[SC2] a host that cannot prove itself is told a nonce and nothing else, and the person is told", () => {
    const machine = createMachine();
    const host = handHost(machine);
    const plugin = startPlugin(machine);
    const token = stateOf(plugin.process).token();
    machine.advance(30);
    host.tell({ type: "challengeResult", sessionId: "", payload: { nonce: "0".repeat(64), proof: "0".repeat(64) } });
    machine.advance(100);
    expect(host.heard).toEqual([{ type: "challenge", sessionId: "", payload: { nonce: expect.any(String) } }]);
    expect(JSON.stringify(host.heard)).not.toContain(token);
    expect(plugin.notices.join()).toContain("cannot prove");
    expect(plugin.client.life.state).toBe("reconnecting");
  });

  test("[SC2] nobody is obeyed who has not proven itself", () => {
    const machine = createMachine();
    const host = handHost(machine);
    const plugin = startPlugin(machine);
    machine.advance(30);
    host.tell({ type: "execute", sessionId: "", requestId: "r", payload: { script: "1" } });
    machine.advance(100);
    expect(plugin.asked).toEqual([]);
  });

  test("[RC2] a host that takes the connection and never answers is given up after 5 s", () => {
    const machine = createMachine();
    handHost(machine);
    const plugin = startPlugin(machine);
    machine.advance(4_900);
    expect(plugin.client.life.state).toBe("connecting");
    machine.advance(200);
    expect(plugin.client.life.state).toBe("reconnecting");
    expect(plugin.notices.join()).toContain("does not answer");
  });
});

describe("while connected", () => {
  test("[PL6] it beats every 15 s, so that a host keeps it for as long as it likes", () => {
    const machine = createMachine();
    const host = handHost(machine);
    connectPlugin(machine, { token: undefined });
    machine.advance(60_000);
    expect(host.heard.filter(({ type }) => type === "heartbeat")).toHaveLength(5);
    const real = createMachine();
    const { bridge } = open(real);
    connectPlugin(real);
    real.advance(3_600_000);
    expect(bridge.listSessions()).toMatchObject([{ instanceId: "inst-1" }]);
    expect(bridge.listSessions()[0]?.stale).not.toBe(true);
  });

  test("[PL4] an action that throws is answered as an error under its request id", () => {
    const machine = createMachine();
    const host = handHost(machine);
    const queryState = () => {
      throw new Error("out of order");
    };
    connectPlugin(machine, { token: undefined, answers: { queryState } });
    host.tell({ type: "queryState", sessionId: "x", requestId: "r-1", payload: {} });
    machine.advance(5);
    expect(host.heard.at(-1)).toMatchObject({ type: "error", requestId: "r-1", payload: { code: "INTERNAL_ERROR" } });
  });

  test("[LB1] ended by its signal it leaves at once and for good", () => {
    const machine = createMachine();
    const host = open(machine);
    const plugin = connectPlugin(machine);
    plugin.end();
    machine.wait(plugin.client.ended);
    expect(host.bridge.listSessions()).toEqual([]);
    machine.advance(60_000);
    expect(host.bridge.listSessions()).toEqual([]);
  });
});
