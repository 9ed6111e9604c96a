// Is a peer that hangs noticed in time, and never one that we kept waiting ourselves?
import { expect, test } from "bun:test";
import type { Socket } from "../../src/platform/world.ts";
import { watchPeer } from "../../src/rpc/watch.ts";
import { createMachine } from "../support/fake-world.ts";

function setUp() {
  const machine = createMachine();
  const process = machine.process();
  const pings: number[] = [];
  const hung: number[] = [];
  const socket: Socket = { send() {}, close() {}, cut() {}, ping: () => void pings.push(machine.now) };
  const watch = watchPeer(process.clock, socket, () => void hung.push(machine.now));
  return { machine, process, pings, hung, watch };
}

test("[TK10] three pings 5 s apart without an answer: hung after 15 s, told once, and no more pings", () => {
  const { machine, pings, hung } = setUp();
  machine.advance(60_000);
  expect(pings).toEqual([0, 5_000, 10_000]);
  expect(hung).toEqual([15_000]);
});

test("[TK10] anything heard between two pings starts the count again", () => {
  const { machine, hung, watch } = setUp();
  machine.advance(14_000);
  watch.heard();
  machine.advance(15_999);
  expect(hung).toEqual([]);
  machine.advance(1);
  expect(hung).toEqual([30_000]);
});

test("[TK10] a late timer, after a sleep of our own, resets the count", () => {
  const { machine, process, hung } = setUp();
  machine.advance(14_000);
  process.freeze();
  machine.advance(600_000);
  process.thaw();
  machine.advance(0);
  expect(hung).toEqual([]);
  machine.advance(14_999);
  expect(hung).toEqual([]);
  machine.advance(1);
  expect(hung).toEqual([614_000 + 15_000]);
});

test("[TK10] a timer less than a second late counts on", () => {
  const { machine, process, hung } = setUp();
  machine.advance(14_500);
  process.freeze();
  machine.advance(1_499);
  process.thaw();
  machine.advance(0);
  expect(hung).toEqual([15_999]);
});

test("[TK10] a watch that is stopped neither pings nor judges", () => {
  const { machine, pings, hung, watch } = setUp();
  machine.advance(6_000);
  watch.stop();
  machine.advance(60_000);
  expect(pings).toEqual([0, 5_000]);
  expect(hung).toEqual([]);
});
