// Does whoever stands in line try once what it may have to do? Behind a door of its own, which is gone afterwards.
import { expect, test } from "bun:test";
import { open, PORT } from "../support/bridges.ts";
import { createMachine } from "../support/fake-world.ts";

function openInLine(rehearses: boolean) {
  const machine = createMachine();
  const host = open(machine);
  const process = machine.process();
  const { net } = process.world;
  const doors: number[] = [];
  const released: number[] = [];
  const { bind } = net;
  net.bind = (options) => {
    const bound = bind(options);
    if (bound.kind !== "bound") return bound;
    doors.push(bound.listener.port);
    const { cut } = bound.listener;
    const closed = (): void => {
      released.push(bound.listener.port);
      cut();
    };
    return { ...bound, listener: { ...bound.listener, cut: closed } };
  };
  const heir = open(machine, { process, rehearses });
  return { machine, host, heir, doors, released };
}

test("[TK8] whoever stands in line rehearses once, behind a port of its own, and closes it", () => {
  const { machine, host, heir, doors, released } = openInLine(true);
  machine.advance(5_000);
  expect(new Set(doors).size).toBeGreaterThan(0);
  expect(doors).not.toContain(PORT);
  expect(released.toSorted()).toEqual(doors.toSorted());
  expect([heir.bridge.role, heir.bridge.hostPid]).toEqual(["client", host.process.pid]);
  const once = doors.length;
  machine.advance(60_000);
  expect(doors).toHaveLength(once);
  host.process.kill();
  machine.until(() => heir.bridge.role === "host");
  expect(machine.holder(PORT)?.pid).toBe(heir.process.pid);
});

test("[TK8] a host that dies in the middle of a rehearsal is followed all the same", () => {
  const { machine, host, heir } = openInLine(true);
  machine.advance(105);
  host.process.kill();
  machine.until(() => heir.bridge.role === "host");
  expect(machine.holder(PORT)?.pid).toBe(heir.process.pid);
});

test("who does not rehearse opens no door but the host's", () => {
  const { machine, doors } = openInLine(false);
  machine.advance(5_000);
  expect(doors).toEqual([]);
});
