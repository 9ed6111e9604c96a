// Does a background host end by itself when nobody needs it, and never while somebody does?
import { expect, test } from "bun:test";
import { endWhenIdle } from "../../src/bridge/idle-end.ts";
import { DEFAULT_SETTINGS } from "../../src/protocol/settings.ts";
import { type Opened, open } from "../support/bridges.ts";
import { connectPlugin } from "../support/fake-plugin.ts";
import { createMachine } from "../support/fake-world.ts";

const MINUTE = 60_000;
const limits = DEFAULT_SETTINGS.idle;

function setUp() {
  const machine = createMachine();
  const company = { clients: 0, sessions: 0 };
  const ends: number[] = [];
  const idleEnd = endWhenIdle(
    machine.process().clock,
    limits,
    () => company,
    () => void ends.push(machine.now),
  );
  return { machine, company, ends, idleEnd };
}

test("[CM2] alone from the start it ends when the idle time is over, not at it", () => {
  const { machine, ends } = setUp();
  machine.advance(5 * MINUTE);
  expect(ends).toEqual([]);
  machine.advance(1);
  expect(ends).toEqual([5 * MINUTE + 1]);
  machine.advance(60 * MINUTE);
  expect(ends).toHaveLength(1);
});

test("[CM2] company keeps it, for longer than any cap", () => {
  for (const one of ["clients", "sessions"] as const) {
    const { machine, company, ends } = setUp();
    company[one] = 1;
    machine.advance(24 * 60 * MINUTE);
    expect(ends).toEqual([]);
  }
});

test("[CM2] the idle time counts from when the last one left", () => {
  const { machine, company, ends, idleEnd } = setUp();
  company.clients = 1;
  idleEnd.touch();
  machine.advance(17 * MINUTE);
  company.clients = 0;
  idleEnd.touch();
  machine.advance(5 * MINUTE);
  expect(ends).toEqual([]);
  machine.advance(1);
  expect(ends).toEqual([22 * MINUTE + 1]);
});

test("[CM2] it says why it is kept, or when it goes", () => {
  const { machine, company, idleEnd } = setUp();
  machine.advance(MINUTE);
  expect(idleEnd.describe()).toStartWith("ends in 240 s");
  company.clients = 2;
  company.sessions = 1;
  expect(idleEnd.describe()).toMatch(/^kept: (?=.*clients)(?=.*plugins).*2.*1/);
});

test("[CM2] cancelled, it never ends anything", () => {
  const { machine, ends, idleEnd } = setUp();
  idleEnd.cancel();
  machine.advance(60 * MINUTE);
  expect(ends).toEqual([]);
});

test("[CM2] a background host whose last client and plugin left ends after its idle time, and says so before", () => {
  const machine = createMachine();
  let idleAt: number | undefined;
  const idle = () => {
    idleAt = machine.now;
  };
  const host = open(machine, { mode: "host", background: true, listener: { idle } });
  const client = open(machine, { mode: "command" });
  const plugin = connectPlugin(machine);
  machine.advance(60 * MINUTE);
  expect(idleAt).toBeUndefined();
  machine.wait(client.bridge.disconnect());
  machine.advance(60 * MINUTE);
  expect(machine.wait(host.bridge.status()).endsWhenIdle).toMatch(/^kept: (?=.*plugins).*1/);
  plugin.end();
  machine.advance(1);
  const start = machine.now;
  expect(machine.wait(host.bridge.status()).endsWhenIdle).toStartWith("ends in 300 s");
  machine.until(() => idleAt !== undefined, 6 * MINUTE);
  expect(machine.now - start).toBeWithin(5 * MINUTE - 2, 5 * MINUTE + 2);
});

test("[CM2] a host in the foreground never ends by itself", () => {
  const machine = createMachine();
  let idle = false;
  const listener = {
    idle() {
      idle = true;
    },
  };
  const host: Opened = open(machine, { mode: "host", listener });
  machine.advance(60 * MINUTE);
  expect([idle, host.bridge.isConnected]).toEqual([false, true]);
  expect(machine.wait(host.bridge.status()).endsWhenIdle).toBeNull();
});
