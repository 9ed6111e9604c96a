// Does the fake world behave as the real one was measured to? What the simulation proves rests on this.
import { describe, expect, test } from "bun:test";
import type { Attach, Connected, Socket } from "../../src/platform/world.ts";
import { createMachine, type FakeProcess, type Machine, type MachineOptions } from "./fake-world.ts";

const PORT = 4_000;

function listen(process: FakeProcess) {
  const heard: string[] = [];
  const sockets: Socket[] = [];
  const attach: Attach = (socket) => {
    sockets.push(socket);
    return {
      message: (text) => void heard.push(text),
      pong: () => void heard.push("pong"),
      closed: (code, reason) => void heard.push(`closed ${code} ${reason}`.trim()),
    };
  };
  const limits = { frameBytes: 1, waitingBytes: 1 };
  const bound = process.world.net.bind({
    address: "127.0.0.1",
    port: PORT,
    ...limits,
    answer: ({ upgrade }) =>
      upgrade ? { kind: "upgrade", attach } : { kind: "json", status: 200, body: { ok: true } },
  });
  return { bound, heard, sockets };
}

function dial(machine: Machine, process: FakeProcess) {
  const heard: string[] = [];
  const attach: Attach = () => ({
    message: (text) => void heard.push(text),
    pong: () => void heard.push("pong"),
    closed: (code, reason) => void heard.push(`closed ${code} ${reason}`.trim()),
  });
  const connected = machine.wait(process.world.net.connect({ port: PORT, path: "/client", timeoutMs: 2_000 }, attach));
  return { connected, heard };
}

const socketOf = (connected: Connected): Socket => {
  if (connected.kind !== "open") throw new Error(connected.kind);
  return connected.socket;
};

function pair(options?: MachineOptions) {
  const machine = createMachine(options);
  const [server, client] = [machine.process(), machine.process()];
  const host = listen(server);
  const { connected, heard } = dial(machine, client);
  return { machine, server, client, host, socket: socketOf(connected), heard };
}

describe("ports", () => {
  test("[HO1] a port is held by one process, and free again when it is released or its holder dies", () => {
    const machine = createMachine();
    const [one, two] = [machine.process(), machine.process()];
    const first = listen(one).bound;
    expect([first.kind, listen(two).bound.kind]).toEqual(["bound", "taken"]);
    if (first.kind === "bound") first.listener.release();
    expect(listen(two).bound.kind).toBe("bound");
    two.kill({ lingerMs: 10 });
    expect(listen(one).bound.kind).toBe("taken");
    machine.advance(10);
    expect(listen(one).bound.kind).toBe("bound");
  });

  test("[TK9] nobody is refused, the dying drop, the stopped are silent", () => {
    const machine = createMachine();
    const [server, client] = [machine.process(), machine.process()];
    expect(dial(machine, client).connected.kind).toBe("refused");
    listen(server);
    server.freeze();
    expect(dial(machine, client).connected.kind).toBe("silent");
    server.kill({ lingerMs: 10 });
    expect(dial(machine, client).connected.kind).toBe("broken");
  });

  test("[HO1] release keeps open sockets working, cut ends them", () => {
    const { machine, host, socket, heard } = pair();
    if (host.bound.kind !== "bound") throw new Error("not bound");
    host.bound.listener.release();
    socket.send("still");
    machine.advance(1);
    expect(host.heard).toEqual(["still"]);
    host.bound.listener.cut();
    machine.advance(1);
    expect(heard).toEqual(["closed 1006"]);
  });
});

describe("sockets", () => {
  test("[TK13] frames arrive in order, whatever each one's latency", () => {
    const { machine, host, socket } = pair({ latencyMs: (dice) => dice.between(0, 50) });
    const sent = Array.from({ length: 50 }, (_, index) => `${index}`);
    for (const text of sent) socket.send(text);
    machine.advance(100);
    expect(host.heard).toEqual(sent);
  });

  test("[TK2] a crash is 1006 to the other side, after what was sent before, and nothing to the dead", () => {
    const { machine, server, host, heard } = pair();
    host.sockets[0]?.send("last words");
    server.kill();
    machine.advance(1);
    expect(heard).toEqual(["last words", "closed 1006"]);
    expect(host.heard).toEqual([]);
  });

  test("[SD2] a server hears of its own close at once, a client when the other side answered", () => {
    const ours = pair();
    ours.host.sockets[0]?.close(1001, "bye");
    expect(ours.host.heard).toEqual(["closed 1001 bye"]);
    ours.machine.advance(1);
    expect(ours.heard).toEqual(["closed 1001 bye"]);
    const theirs = pair();
    theirs.server.freeze();
    theirs.socket.close(1000, "");
    theirs.machine.advance(1_000);
    expect(theirs.heard).toEqual([]);
    theirs.server.thaw();
    theirs.machine.advance(1);
    expect([theirs.host.heard, theirs.heard]).toEqual([["closed 1000"], ["closed 1000"]]);
  });

  test("[TK10] a ping is answered by a process that runs, and late by one that was stopped", () => {
    const { machine, server, socket, heard } = pair();
    socket.ping();
    machine.advance(1);
    expect(heard).toEqual(["pong"]);
    server.freeze();
    socket.ping();
    machine.advance(60_000);
    expect(heard).toEqual(["pong"]);
    server.thaw();
    machine.advance(1);
    expect(heard).toEqual(["pong", "pong"]);
  });
});

test("[TK10] timers of a stopped process fire late, once, in order; those of a dead one never", () => {
  const machine = createMachine();
  const [stopped, dead] = [machine.process(), machine.process()];
  const fired: string[] = [];
  for (const ms of [20, 10]) stopped.clock.after(ms, () => void fired.push(`${ms} at ${machine.now}`));
  const cancel = stopped.clock.after(15, () => void fired.push("cancelled"));
  dead.clock.after(10, () => void fired.push("dead"));
  stopped.freeze();
  dead.kill();
  machine.advance(100);
  expect(fired).toEqual([]);
  cancel();
  stopped.thaw();
  machine.advance(0);
  expect(fired).toEqual(["10 at 100", "20 at 100"]);
});
