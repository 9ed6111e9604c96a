// What does a HandOffManager tell the outside, step by step, and when does it act?
import { describe, expect, test } from "bun:test";
import {
  type BindOutcome,
  HandOffManager,
  type HandOffState,
  type LineOutcome,
  runTakeover,
} from "../../src/bridge/hand-off.ts";
import { takeoverAtStart } from "../../src/core/takeover.ts";
import { HostUnreachableError } from "../../src/protocol/fault.ts";
import { watch } from "../support/bridges.ts";
import { createMachine } from "../support/fake-world.ts";

interface Script {
  bind?: (attempt: number) => BindOutcome;
  join?: (attempt: number) => LineOutcome;
  random?: () => number;
}

const taken: BindOutcome = { kind: "taken" };

function setUp({ bind = () => ({ kind: "bound" }), join = () => ({ kind: "joined" }), random = () => 0.5 }: Script) {
  const machine = createMachine();
  const { clock } = machine.process();
  const states: HandOffState[] = [];
  const binds: number[] = [];
  const joins: number[] = [];
  const over = new AbortController();
  const handOff = new HandOffManager({
    world: { clock, random },
    port: 4_321,
    signal: over.signal,
    bind: () => bind(binds.push(machine.now)),
    join: async () => join(joins.push(machine.now)),
    changed: (state) => void states.push(state),
  });
  return { machine, handOff, states, binds, joins, over };
}

describe("detecting", () => {
  test("[TK1] a transfer notice is remembered, and nothing is bound before the socket closes", () => {
    const { machine, handOff, states, binds } = setUp({});
    expect(handOff.state).toBe("connected");
    handOff.onHostTransferNotice();
    machine.advance(60_000);
    expect(handOff.state).toBe("detecting-failure");
    expect(binds).toEqual([]);
    expect(machine.wait(handOff.onHostDisconnected())).toBe("promoted");
    expect(binds).toEqual([60_000]);
    expect(states).toEqual(["detecting-failure", "taking-over", "promoted"]);
  });

  test("[TK1] the memory of a notice is cleared when a new connection is up", () => {
    const { machine, handOff, binds } = setUp({ random: () => 0.5 });
    handOff.onHostTransferNotice();
    handOff.onConnected();
    expect(handOff.state).toBe("connected");
    machine.wait(handOff.onHostDisconnected());
    expect(binds).toEqual([250]);
  });

  test("[TK1] a notice serves for one loss only", () => {
    const { machine, handOff, binds } = setUp({ bind: () => taken });
    handOff.onHostTransferNotice();
    machine.wait(handOff.onHostDisconnected());
    machine.wait(handOff.onHostDisconnected());
    expect(binds).toEqual([0, 250]);
  });

  test("[TK2] after a crash the jitter passes in detecting-failure, and only then it binds", () => {
    const { machine, handOff, states, binds } = setUp({ random: () => 0.8 });
    const outcome = handOff.onHostDisconnected();
    machine.advance(399);
    expect(handOff.state).toBe("detecting-failure");
    expect(binds).toEqual([]);
    machine.advance(1);
    expect(machine.wait(outcome)).toBe("promoted");
    expect(binds).toEqual([400]);
    expect(states).toEqual(["detecting-failure", "taking-over", "promoted"]);
  });

  test("[TK8] a place in line replaces the jitter, and is forgotten with the connection", () => {
    const { machine, handOff, binds } = setUp({ bind: () => taken });
    handOff.onSuccession(5);
    handOff.onSuccession(3);
    machine.wait(handOff.onHostDisconnected());
    expect(binds).toEqual([75]);
    machine.wait(handOff.onHostDisconnected());
    expect(binds).toEqual([75, 75 + 250]);
    handOff.onSuccession(2);
    handOff.onConnected();
    machine.wait(handOff.onHostDisconnected());
    expect(binds).toEqual([75, 325, 325 + 250]);
  });
});

describe("taking over", () => {
  test("[TK3] the first bind that succeeds promotes, and nobody is joined", () => {
    const { machine, handOff, joins } = setUp({});
    handOff.onHostTransferNotice();
    expect(machine.wait(handOff.onHostDisconnected())).toBe("promoted");
    expect(handOff.state).toBe("promoted");
    expect(joins).toEqual([]);
  });

  test("[TK4] a taken port and a host that takes us: fell-back-to-client", () => {
    const { machine, handOff, states } = setUp({ bind: () => taken });
    handOff.onHostTransferNotice();
    expect(machine.wait(handOff.onHostDisconnected())).toBe("fell-back-to-client");
    expect(states).toEqual(["detecting-failure", "taking-over", "fell-back-to-client"]);
    handOff.onConnected();
    expect(states.at(-1)).toBe("connected");
  });

  test("[TK4] a host that is still closing is tried again after 2, 4, 8 … ms", () => {
    const { machine, handOff, joins } = setUp({
      bind: () => taken,
      join: (attempt) => ({ kind: attempt < 5 ? "closing" : "joined" }),
    });
    handOff.onHostTransferNotice();
    expect(machine.wait(handOff.onHostDisconnected())).toBe("fell-back-to-client");
    expect(joins).toEqual([0, 2, 6, 14, 30]);
  });

  test("[TK5] nobody answers ten times, a second apart: HostUnreachableError with host and port", () => {
    const { machine, handOff, binds, states } = setUp({ bind: () => taken, join: () => ({ kind: "silent" }) });
    handOff.onHostTransferNotice();
    const watched = watch(handOff.onHostDisconnected());
    machine.advance(8_999);
    expect(watched.state).toBe("pending");
    machine.advance(1);
    expect(binds).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((second) => second * 1_000));
    expect(watched.error).toBeInstanceOf(HostUnreachableError);
    expect(watched.error).toMatchObject({ host: "127.0.0.1", port: 4_321, code: "HOST_UNREACHABLE" });
    expect(states).toEqual(["detecting-failure", "taking-over"]);
  });

  test("[TK5] a later attempt begins with detecting-failure again", () => {
    const { machine, handOff, states } = setUp({
      bind: (attempt) => (attempt <= 10 ? taken : { kind: "bound" }),
      join: () => ({ kind: "silent" }),
    });
    expect(() => machine.wait(handOff.onHostDisconnected())).toThrow(HostUnreachableError);
    expect(machine.wait(handOff.onHostDisconnected())).toBe("promoted");
    expect(states).toEqual(["detecting-failure", "taking-over", "detecting-failure", "taking-over", "promoted"]);
  });

  test("[TK5] it stops trying as soon as one round succeeds", () => {
    const { machine, handOff, binds } = setUp({
      bind: (attempt) => (attempt < 3 ? taken : { kind: "bound" }),
      join: () => ({ kind: "silent" }),
    });
    handOff.onHostTransferNotice();
    expect(machine.wait(handOff.onHostDisconnected())).toBe("promoted");
    expect(binds).toEqual([0, 1_000, 2_000]);
  });

  test("[TK6] EACCES and its like are thrown at once, as they came, and never tried again", () => {
    const error = new Error("EACCES: permission denied");
    const { machine, handOff, binds, joins } = setUp({ bind: () => ({ kind: "bind-failed", code: "EACCES", error }) });
    handOff.onHostTransferNotice();
    const watched = watch(handOff.onHostDisconnected());
    machine.advance(60_000);
    expect(watched.error).toBe(error);
    expect(binds).toEqual([0]);
    expect(joins).toEqual([]);
  });

  test("[TK7] a host that did not start is tried again in the next round", () => {
    const { machine, handOff, binds, states } = setUp({
      bind: (attempt) => ({ kind: attempt === 1 ? "start-failed" : "bound" }),
    });
    handOff.onHostTransferNotice();
    expect(machine.wait(handOff.onHostDisconnected())).toBe("promoted");
    expect(binds).toEqual([0, 1_000]);
    expect(states).toEqual(["detecting-failure", "taking-over", "promoted"]);
  });

  test("[TK9] a refused connection is tried again up the ladder, then a second apart", () => {
    const { machine, handOff, binds } = setUp({ bind: () => taken, join: () => ({ kind: "refused" }) });
    handOff.onHostTransferNotice();
    expect(() => machine.wait(handOff.onHostDisconnected())).toThrow(HostUnreachableError);
    const ladder = [0, 2, 6, 14, 30, 62, 126, 254];
    expect(binds.slice(0, 8)).toEqual(ladder);
    expect(binds.slice(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((second) => 254 + second * 1_000));
  });

  test("[TK12] a crash after a fall-back is judged afresh", () => {
    const { machine, handOff, states, binds } = setUp({
      bind: (attempt) => (attempt === 1 ? taken : { kind: "bound" }),
    });
    handOff.onHostTransferNotice();
    machine.wait(handOff.onHostDisconnected());
    handOff.onConnected();
    const start = machine.now;
    machine.wait(handOff.onHostDisconnected());
    expect((binds[1] as number) - start).toBe(250);
    expect(states.slice(3)).toEqual(["connected", "detecting-failure", "taking-over", "promoted"]);
  });
});

test("[LB1] who disconnects while waiting in line binds nothing any more", () => {
  const { machine, handOff, binds, over } = setUp({ bind: () => taken, join: () => ({ kind: "silent" }) });
  const outcome = handOff.onHostDisconnected();
  machine.advance(260);
  expect(binds).toHaveLength(1);
  over.abort();
  expect(machine.wait(outcome)).toBe("aborted");
  machine.advance(60_000);
  expect(binds).toHaveLength(1);
});

test("[HO5] a start gives up after the ladder and three more tries", () => {
  const machine = createMachine();
  const binds: number[] = [];
  const ending = runTakeover(takeoverAtStart(), {
    bind() {
      binds.push(machine.now);
      return taken;
    },
    join: async () => ({ kind: "refused" }),
    signal: new AbortController().signal,
    clock: machine.process().clock,
    maxRounds: 4,
  });
  expect(machine.wait(ending)).toEqual({ state: "stranded", rounds: 4 });
  expect(binds.slice(8)).toEqual([1_254, 2_254, 3_254]);
});
