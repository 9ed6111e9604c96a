// What happens to those in line when their host goes, with the real host and client on both ends?
import { describe, expect, test } from "bun:test";
import { openBridge } from "../../src/bridge/bridge.ts";
import { createHosting } from "../../src/bridge/hosting.ts";
import { Health } from "../../src/protocol/health.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { type Opened, open, opening, openLine, PORT, stateOf } from "../support/bridges.ts";
import { connectPlugin } from "../support/fake-plugin.ts";
import { createMachine, type FakeProcess, type Machine } from "../support/fake-world.ts";
import { squat } from "../support/squatter.ts";

/** When this process tries to bind the port, counted from now. */
function bindsOf(machine: Machine, { world }: FakeProcess): number[] {
  const start = machine.now;
  const binds: number[] = [];
  const { bind } = world.net;
  world.net.bind = (options) => {
    if (options.address === "127.0.0.1") binds.push(Math.round(machine.now - start));
    return bind(options);
  };
  return binds;
}

const names = ({ told }: Opened): string[] => told.map(({ name }) => String(name));

describe("promotion", () => {
  test("[TK3] the process that binds hosts, on the socket it bound, and the others are its clients", () => {
    const machine = createMachine();
    const [host, first, second] = openLine(machine, 2) as [Opened, Opened, Opened];
    host.process.kill();
    machine.until(() => second.bridge.isConnected && second.bridge.hostPid === first.process.pid);
    expect(first.bridge.role).toBe("host");
    expect(machine.holder(PORT)?.pid).toBe(first.process.pid);
    expect(first.states).toEqual(["detecting-failure", "taking-over", "promoted"]);
    expect(second.states).toEqual(["detecting-failure", "taking-over", "fell-back-to-client", "connected"]);
  });

  test("[TK4] the connection that was made in the race is the one that is used", () => {
    const machine = createMachine();
    const [host, first, second] = openLine(machine, 2) as [Opened, Opened, Opened];
    host.process.kill();
    machine.advance(1_000);
    const { clients } = machine.wait(first.bridge.status());
    expect(clients).toMatchObject([{ pid: second.process.pid, standing: true, rank: 0 }]);
    expect(machine.wait(second.bridge.status()).pid).toBe(first.process.pid);
  });

  test("[TK11] the new host says so at once: role, event, and /health with lastFailoverAt and no sessions", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    connectPlugin(machine);
    expect(Health.parse(JSON.parse(machine.wait(probe(machine)).body))).toMatchObject({ lastFailoverAt: null });
    host.process.kill();
    machine.until(() => first.bridge.role === "host");
    const { status, body } = machine.wait(probe(machine));
    expect(status).toBe(200);
    expect(Health.parse(JSON.parse(body))).toMatchObject({ sessions: 0, lastFailoverAt: first.process.clock.iso() });
    expect(first.bridge.listSessions()).toEqual([]);
    expect(first.told.find(({ name }) => name === "role-changed")?.data).toMatchObject({
      role: "host",
      previous: "client",
    });
  });

  test("[TK12] who fell back lists the sessions again, works on, and takes over at the next crash", () => {
    const machine = createMachine();
    const [host, first, second] = openLine(machine, 2) as [Opened, Opened, Opened];
    connectPlugin(machine);
    host.process.kill();
    machine.until(() => second.bridge.hostPid === first.process.pid && second.bridge.listSessions().length === 1);
    const session = machine.wait(second.bridge.waitForSession());
    expect(machine.wait(session.exec("1 + 1"))).toMatchObject({ success: true, value: "1 + 1" });
    expect(names(second).slice(-3)).toEqual(["host-lost", "host-found", "session-connected"]);
    first.process.kill();
    machine.until(() => second.bridge.role === "host");
    expect(second.states.slice(-4)).toEqual(["connected", "detecting-failure", "taking-over", "promoted"]);
  });

  const probe = async (machine: Machine): Promise<{ status: number; body: string }> => {
    const probed = await machine.process().world.net.probe(PORT, 1_000);
    return probed.kind === "answer" ? probed : { status: 0, body: "" };
  };
});

describe("when each one tries", () => {
  test("[TK1] after a transfer notice nobody binds until the socket closes, then all do at once", () => {
    const machine = createMachine();
    const [host, ...line] = openLine(machine, 3);
    const plugin = connectPlugin(machine);
    plugin.mute.add("execute");
    machine
      .wait(host.bridge.waitForSession())
      .exec("slow")
      .catch(() => {});
    machine.advance(5);
    const binds = line.map(({ process }) => bindsOf(machine, process));
    void host.bridge.disconnect();
    machine.advance(200);
    expect(line.map(({ states }) => states)).toEqual(line.map(() => ["detecting-failure"]));
    expect(binds.flat()).toEqual([]);
    machine.advance(60);
    expect(binds).toEqual([[250], [250], [250]]);
    expect(line.filter(({ bridge }) => bridge.role === "host")).toHaveLength(1);
  });

  test("[TK8] after a crash each waits its place in line times 25 ms", () => {
    const machine = createMachine();
    const [host, ...line] = openLine(machine, 4);
    const binds = line.map(({ process }) => bindsOf(machine, process));
    host.process.kill();
    machine.advance(1_000);
    expect(binds).toEqual([[0], [25], [50], [75]]);
  });

  test("[TK8] who leaves the line moves the others up", () => {
    const machine = createMachine();
    const [host, first, ...line] = openLine(machine, 3);
    machine.wait((first as Opened).bridge.disconnect());
    machine.advance(5);
    const binds = line.map(({ process }) => bindsOf(machine, process));
    host.process.kill();
    machine.advance(1_000);
    expect(binds).toEqual([[0], [25]]);
  });

  test("[TK9] a port that the kernel keeps for some ms is tried again after 2, 4, 8, 16 ms", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    const binds = bindsOf(machine, first.process);
    host.process.kill({ lingerMs: 25 });
    machine.until(() => first.bridge.role === "host");
    expect(binds[0]).toBe(0);
    expect(binds).toHaveLength(5);
    expect(binds[4]).toBeWithin(30, 34);
  });

  test("[HO4] eight standing processes that start at the same instant: one hosts, none fails", () => {
    const machine = createMachine();
    const peers = machine.wait(Promise.all(Array.from({ length: 8 }, () => opening(machine))));
    const roles = Map.groupBy(peers, ({ bridge }) => bridge.role);
    expect([roles.get("host")?.length, roles.get("client")?.length]).toEqual([1, 7]);
  });
});

describe("when it does not go well", () => {
  test("[TK5] a port held by a silent process is told, waited for, and taken when it is free", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    host.process.kill();
    const squatter = squat(machine, "mute");
    machine.advance(35_000);
    expect(first.notices.join("\n")).toContain(`No holdfast host answers on 127.0.0.1:${PORT}`);
    expect(first.notices.join("\n")).toContain(`process ${squatter?.pid}`);
    expect(first.states.slice(0, 4)).toEqual(["detecting-failure", "taking-over", "detecting-failure", "taking-over"]);
    expect(names(first)).toEqual(["host-lost"]);
    squatter?.kill();
    machine.until(() => first.bridge.role === "host", 5_000);
  });

  test("[TK5] a foreign program on the port is told once to who stands in line; a start and a command fail with it, and need no notice", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    host.process.kill();
    const squatter = squat(machine, "web-server");
    machine.advance(1_000);
    const message = expect.stringContaining(`Port ${PORT} is held by process ${squatter?.pid}`);
    expect(first.notices).toEqual([message]);
    for (const mode of ["command", "standing", "host"] as const) {
      const notices: string[] = [];
      const process = machine.process();
      const started = openBridge(process.world, {
        port: PORT,
        mode,
        state: stateOf(process),
        hosting: createHosting,
        listener: { notice: (text) => void notices.push(text) },
      });
      expect(() => machine.wait(started)).toThrow(`Port ${PORT} is held by process ${squatter?.pid}`);
      expect({ mode, notices }).toEqual({ mode, notices: [] });
    }
  });

  test("[TK6] a bind error other than a taken port ends it at once, told with its cause", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    const binds = bindsOf(machine, first.process);
    first.process.bindFails = "EACCES";
    host.process.kill();
    machine.advance(60_000);
    expect(binds).toEqual([0]);
    expect(names(first)).toEqual(["host-lost", "ended"]);
    expect(first.told.at(-1)?.data).toMatchObject({ error: new Error("bind: EACCES") });
  });

  test("[TK7] a host that cannot start frees the port and tries again a second later", () => {
    const machine = createMachine();
    const host = open(machine);
    let times = 0;
    const service = (): never => {
      times++;
      if (times === 1) throw new Error("no descriptors");
      return undefined as never;
    };
    const first = open(machine, { service });
    host.process.kill();
    machine.advance(500);
    expect(first.notices.join()).toContain("The host did not start: no descriptors");
    expect(machine.holder(PORT)).toBeUndefined();
    expect(first.bridge.role).toBe("client");
    machine.advance(501);
    expect([first.bridge.role, machine.holder(PORT)?.pid]).toEqual(["host", first.process.pid]);
  });

  test("[SE3] [TK7] a full disk keeps nobody from taking over: that its settings are not kept is told", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    stateOf(first.process).forgetSettings(PORT);
    machine.files.failWrites(Number.POSITIVE_INFINITY);
    host.process.kill();
    machine.advance(500);
    expect([first.bridge.role, machine.holder(PORT)?.pid]).toEqual(["host", first.process.pid]);
    expect(first.notices.join()).toContain("The disk is full");
  });

  test("[TK10] a host that hangs is noticed after three pings, and its pid is said", () => {
    const machine = createMachine();
    const [host, first] = openLine(machine, 1) as [Opened, Opened];
    const start = machine.now;
    host.process.freeze();
    machine.until(() => names(first).includes("host-lost"));
    expect(machine.now - start).toBeWithin(10_000, 20_001);
    expect(first.told.at(-1)?.data).toEqual({ hung: true, hostPid: host.process.pid });
    machine.advance(1);
    expect(first.notices.join()).toContain(`hangs. Port ${PORT} is held by process ${host.process.pid} (holdfast)`);
    host.process.thaw();
    machine.until(() => first.bridge.isConnected);
    expect([first.bridge.role, first.bridge.hostPid]).toEqual(["client", host.process.pid]);
  });

  test("[TK10] who was stopped itself does not call its host hung", () => {
    const machine = createMachine();
    const [, first] = openLine(machine, 1) as [Opened, Opened];
    first.process.freeze();
    machine.advance(40_000);
    first.process.thaw();
    machine.advance(60_000);
    expect([first.states, names(first), first.bridge.isConnected]).toEqual([[], [], true]);
  });

  test("[HO7] the successor goes on with the settings that were kept, and logs what of its own they overrule", () => {
    const machine = createMachine();
    const host = open(machine, { own: { auth: "none" } });
    const first = open(machine, { own: { auth: "token", limits: DEFAULT_SETTINGS.limits } });
    host.process.kill();
    machine.until(() => first.bridge.role === "host");
    expect(machine.wait(first.bridge.status()).auth).toBe("none");
    expect(first.process.log).toContainEqual({
      level: "warn",
      message: "The last host's settings overrule our own",
      data: { settings: ["auth"] },
    });
  });

  test("[HO7] with nobody in line the reign ends with its host, and the next one has its own settings", () => {
    const machine = createMachine();
    const host = open(machine, { own: { auth: "none" } });
    machine.wait(host.bridge.disconnect());
    expect(machine.wait(open(machine).bridge.status()).auth).toBe("token");
  });
});
