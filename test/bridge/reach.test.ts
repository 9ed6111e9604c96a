// Does a command find a host, start one only when it must, and never host itself?
import { describe, expect, test } from "bun:test";
import { Fault, HostUnreachableError } from "../../src/protocol/fault.ts";
import { type Opened, open, opening, PORT, watch } from "../support/bridges.ts";
import { connectPlugin } from "../support/fake-plugin.ts";
import { createMachine, type Machine } from "../support/fake-world.ts";
import { squat } from "../support/squatter.ts";

/** A way to start a background host, which is up some ms later. */
function starter(machine: Machine, upAfterMs: number | "never" = 200) {
  const started: { times: number; host: Opened | undefined } = { times: 0, host: undefined };
  const startHost = (): undefined => {
    started.times++;
    if (upAfterMs === "never") return;
    machine.plan(upAfterMs, () => {
      opening(machine, { mode: "host", background: true }).then(
        (host) => {
          started.host = host;
        },
        () => {},
      );
    });
  };
  return { started, startHost };
}

describe("at the beginning", () => {
  test("[CM2] a command with no host starts one in the background, once, and joins it", () => {
    const machine = createMachine();
    const { started, startHost } = starter(machine, 2_000);
    const command = open(machine, { mode: "command", startHost });
    expect(started.times).toBe(1);
    expect(command.bridge.role).toBe("client");
    expect(started.host?.process.pid).toBe(command.bridge.hostPid);
  });

  test("[CM2] with a host there, none is started", () => {
    const machine = createMachine();
    const host = open(machine);
    const { started, startHost } = starter(machine);
    const command = open(machine, { mode: "command", startHost });
    expect([started.times, command.bridge.hostPid]).toEqual([0, host.process.pid]);
  });

  test("[CM2] with --no-start it fails at once and says how to start one", () => {
    const machine = createMachine();
    const opened = watch(opening(machine, { mode: "command" }));
    machine.advance(10);
    expect(opened.error).toBeInstanceOf(HostUnreachableError);
    expect(opened.error).toMatchObject({ host: "127.0.0.1", port: PORT });
    expect((opened.error as Fault).message).toContain("holdfast serve");
  });

  test("[HO6] a background host that does not come up within 5 s is an error that says so", () => {
    const machine = createMachine();
    const { started, startHost } = starter(machine, "never");
    const opened = watch(opening(machine, { mode: "command", startHost }));
    machine.advance(4_990);
    expect(opened.state).toBe("pending");
    machine.advance(200);
    expect(opened.error).toBeInstanceOf(HostUnreachableError);
    expect((opened.error as Fault).message).toContain("within 5 s");
    expect(started.times).toBe(1);
  });

  test("[HO5] a foreign program on the port is an error at once that names its pid and the remedy", () => {
    const machine = createMachine();
    const squatter = squat(machine, "web-server");
    const { started, startHost } = starter(machine);
    const opened = watch(opening(machine, { mode: "command", startHost }));
    machine.advance(10);
    expect(opened.error).toMatchObject({ code: "PORT_HELD", exitCode: 4 });
    expect((opened.error as Fault).message).toContain(`process ${squatter?.pid}`);
    expect((opened.error as Fault).message).toContain("--port");
    expect(started.times).toBe(0);
  });

  test("[HO5] a silent process on the port is tried four times in all, then an error that names its pid", () => {
    const machine = createMachine();
    const squatter = squat(machine, "mute");
    const opened = watch(opening(machine, { mode: "command", startHost: starter(machine).startHost }));
    machine.advance(10_990);
    expect(opened.state).toBe("pending");
    machine.advance(20);
    expect(opened.error).toBeInstanceOf(HostUnreachableError);
    expect((opened.error as Fault).message).toContain(`process ${squatter?.pid}`);
  });

  test("[TK4] a host that is closing is waited for, and the next one joined", () => {
    const machine = createMachine();
    const squatter = squat(machine, "closing");
    const { started, startHost } = starter(machine);
    const opened = opening(machine, { mode: "command", startHost });
    machine.advance(1_000);
    squatter?.kill();
    const command = machine.wait(opened);
    expect(started.host?.process.pid).toBe(command.bridge.hostPid);
    expect(started.times).toBe(1);
  });
});

describe("patience", () => {
  test("[CM10] time that a silent process took is not counted against the one that came after it", () => {
    const machine = createMachine();
    const mute = squat(machine, "mute");
    const { startHost } = starter(machine);
    const opened = opening(machine, { mode: "command", startHost });
    machine.advance(7_000);
    mute?.kill();
    const leaving = squat(machine, "closing");
    machine.advance(4_000);
    leaving?.kill();
    const host = open(machine);
    expect(machine.wait(opened).bridge.hostPid).toBe(host.process.pid);
  });

  test("[CM10] one that leaves, and the next that leaves: each has its own time", () => {
    const machine = createMachine();
    const { startHost } = starter(machine);
    const opened = opening(machine, { mode: "command", startHost });
    opened.catch(() => undefined);
    const hold = (ms: number) => {
      const leaving = squat(machine, "closing");
      machine.advance(ms);
      leaving?.kill();
    };
    for (const ms of [4_000, 4_000, 4_000]) hold(ms);
    const host = open(machine);
    expect(machine.wait(opened).bridge.hostPid).toBe(host.process.pid);
  });

  test("[HO5] who drops every connection is given up, and named", () => {
    const machine = createMachine();
    const squatter = squat(machine, "closing");
    const opened = watch(opening(machine, { mode: "command", startHost: starter(machine).startHost }));
    machine.advance(4_900);
    expect(opened.state).toBe("pending");
    machine.advance(300);
    expect((opened.error as Fault).message).toContain(`process ${squatter?.pid}`);
    expect((opened.error as Fault).message).toContain("drops connections");
  });

  test("[CM10] a host of ours that left the port to another is started again when that one is gone", () => {
    const machine = createMachine();
    let times = 0;
    const { startHost: start } = starter(machine, 100);
    const startHost = () => {
      times++;
      // The first finds the port taken, and leaves in good order.
      if (times > 1) start();
      return { hasEnded: () => times === 1, wasKilled: () => false };
    };
    const opened = opening(machine, { mode: "command", startHost });
    machine.advance(10);
    const other = squat(machine, "closing");
    machine.advance(1_000);
    other?.kill();
    expect(machine.wait(opened).bridge.role).toBe("client");
    expect(times).toBe(2);
  });
});

describe("after a loss", () => {
  test("[TK14] somebody stands in line: the command joins that one and starts none", () => {
    const machine = createMachine();
    const host = open(machine);
    const dead = open(machine);
    const heir = open(machine);
    const { started, startHost } = starter(machine);
    const command = open(machine, { mode: "command", startHost });
    connectPlugin(machine, { backoff: { firstMs: 50, capMs: 50 } });
    // The second in line takes over, 25 ms later.
    dead.process.kill();
    host.process.kill();
    machine.until(() => command.bridge.hostPid === heir.process.pid);
    expect(started.times).toBe(0);
    expect(machine.wait(machine.wait(command.bridge.waitForSession()).exec("2"))).toMatchObject({ value: "2" });
    expect(command.states).toEqual([]);
  });

  test("[TK14] nobody stands in line: it starts a background host, once, and joins it", () => {
    const machine = createMachine();
    const host = open(machine);
    const { started, startHost } = starter(machine, 1_000);
    const command = open(machine, { mode: "command", startHost });
    host.process.kill();
    machine.until(() => started.host !== undefined && command.bridge.isConnected);
    machine.advance(10_000);
    expect(command.bridge.role).toBe("client");
    expect(started.host?.process.pid).toBe(command.bridge.hostPid);
    expect(started.times).toBe(1);
  });

  test("[TK14] two commands that lose their host at once both end at one host", () => {
    const machine = createMachine();
    const host = open(machine);
    const ways = [starter(machine), starter(machine)];
    const commands = ways.map(({ startHost }) => open(machine, { mode: "command", startHost }));
    host.process.kill();
    machine.advance(5_000);
    for (const { bridge } of commands) expect(machine.holder(PORT)?.pid).toBe(bridge.hostPid);
  });

  test("[TK14] with --no-start and nobody in line the search ends with an error", () => {
    const machine = createMachine();
    const host = open(machine);
    const command = open(machine, { mode: "command" });
    host.process.kill();
    machine.advance(5_000);
    expect(command.told.map(({ name }) => name)).toEqual(["host-lost", "ended"]);
    expect(command.told.at(-1)?.data).toMatchObject({ error: { code: "HOST_UNREACHABLE" } });
  });

  test("[TK14] a command never binds the port, whatever happens", () => {
    const machine = createMachine();
    const host = open(machine);
    const process = machine.process();
    process.world.net.bind = () => {
      throw new Error("A command binds");
    };
    const { startHost } = starter(machine);
    const command = open(machine, { process, mode: "command", startHost });
    host.process.kill();
    machine.until(() => command.bridge.isConnected && command.bridge.hostPid !== host.process.pid);
  });
});

describe("serve", () => {
  test("[HO5] a plain serve on a port with a host of ours fails, names its pid, and leaves it alone", () => {
    const machine = createMachine();
    const host = open(machine);
    const opened = watch(opening(machine, { mode: "host" }));
    machine.advance(50);
    expect(opened.error).toMatchObject({ code: "PORT_HELD", data: { pid: host.process.pid } });
    expect(machine.wait(host.bridge.status()).clients).toEqual([]);
  });

  test("[HO5] a silent holder fails a start after four rounds, and a foreign one at once", () => {
    const machine = createMachine();
    const squatter = squat(machine, "mute");
    const silent = watch(opening(machine));
    machine.advance(10_990);
    expect(silent.state).toBe("pending");
    machine.advance(20);
    expect(silent.error).toMatchObject({ code: "PORT_HELD" });
    squatter?.kill();
    squat(machine, "web-server");
    const foreign = watch(opening(machine));
    machine.advance(10);
    expect(foreign.error).toBeInstanceOf(Fault);
    expect(foreign.error).toMatchObject({ code: "PORT_HELD" });
  });
});
