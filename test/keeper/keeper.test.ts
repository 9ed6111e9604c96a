// Does a keeper keep its promises? Recorded before written, marked after it, each once, and only for the newest host.
import { describe, expect, test } from "bun:test";
import { type KeeperSpec, placeAt } from "../../src/keeper/place.ts";
import type { HostLine, KeeperLine } from "../../src/keeper/wire.ts";
import type { LineSocket } from "../../src/platform/agent-world.ts";
import type { FakeAgentOptions } from "../agents/fake-agent.ts";
import { type Held, type KeeperWorld, LINGER_MS, openKeeperWorld } from "./keeper-world.ts";

const DIRECTORY = "/state/keepers/run1";
const SPEC: KeeperSpec = {
  version: 1,
  agent: "demo",
  run: "run1",
  command: "/bin/demo",
  args: [],
  env: {},
  cwd: "/",
  tag: "tag-of-run1",
  socket: `${DIRECTORY}/s`,
  lingerMs: LINGER_MS,
};

type Attached = Extract<KeeperLine, { told: "attached" }>;

interface TestHost {
  readonly told: KeeperLine[];
  readonly closed: boolean;
  say(line: HostLine | Record<string, unknown> | string): void;
  of<Told extends KeeperLine["told"]>(told: Told): Extract<KeeperLine, { told: Told }>[];
  taken(): string[];
  leave(): void;
}

interface Stage extends KeeperWorld {
  readonly one: Held;
  host(generation?: number): TestHost;
  inputLog(): unknown[];
  /** kill -9, and another keeper in its place. */
  killKeeper(): void;
}

function openStage(options: FakeAgentOptions = {}): Stage {
  const world = openKeeperWorld(options);
  const { machine, lines } = world;
  const place = placeAt(machine.files, DIRECTORY);
  machine.files.replace(place.out, "");
  place.keepSpec(SPEC);
  world.startKeeper(DIRECTORY);
  machine.advance(20);
  return Object.assign(world, {
    get one() {
      return world.held[0] as Held;
    },
    inputLog: () =>
      (machine.files.texts.get(place.inputLog) ?? "")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    killKeeper() {
      world.keepers.at(-1)?.kill();
      world.startKeeper(DIRECTORY);
      machine.advance(20);
    },
    host(generation?: number): TestHost {
      const process = machine.process();
      const told: KeeperLine[] = [];
      let closed = false;
      let socket: LineSocket | undefined;
      const connected = machine.wait(
        lines.of(process).connect(SPEC.socket, () => ({
          line: (text) => void told.push(JSON.parse(text)),
          closed() {
            closed = true;
          },
        })),
      );
      if (connected.kind === "open") socket = connected.socket;
      const host: TestHost = {
        told,
        get closed() {
          return closed;
        },
        say(line) {
          socket?.send(typeof line === "string" ? line : JSON.stringify(line));
          machine.advance(1);
        },
        of: (name) => told.filter((each): each is never => each.told === name),
        taken: () => host.of("taken").map(({ key }) => key),
        leave: () => process.kill(),
      };
      if (generation !== undefined) host.say({ verb: "attach", version: 1, generation });
      return host;
    },
  });
}

const line = (text: string): string => JSON.stringify({ jsonrpc: "2.0", method: text });
const input = (key: string, text = key): HostLine => ({ verb: "input", key, line: line(text) });
const heard = ({ one }: Stage) => one.agent.heard.map(({ method }) => method);

describe("input", () => {
  test("[KP3] a line is on record before the agent gets it, marked after it, and acknowledged last", () => {
    const stage = openStage();
    const host = stage.host(1);
    host.say(input("a"));
    expect(stage.one.fifo.writes).toEqual([
      { text: `${line("a")}\n`, inputLog: `${JSON.stringify({ key: "a", line: line("a") })}\n` },
    ]);
    expect(stage.inputLog()).toEqual([{ key: "a", line: line("a") }, { done: "a" }]);
    const { length } = stage.machine.files.texts.get(stage.one.place.inputLog) ?? "";
    expect(host.of("taken")).toEqual([{ told: "taken", key: "a", end: length }]);
  });

  test("[KP3] a line that the agent has not taken yet is neither marked nor acknowledged, and later ones wait behind it", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.one.fifo.room = 5;
    host.say(input("a"));
    host.say(input("b"));
    expect([stage.inputLog(), host.taken()]).toEqual([[{ key: "a", line: line("a") }], []]);
    stage.one.fifo.room = Number.POSITIVE_INFINITY;
    stage.machine.advance(10);
    expect([heard(stage), host.taken(), stage.one.fifo.torn]).toEqual([["a", "b"], ["a", "b"], []]);
  });

  test("[KP3] what is asked again under the same key is acknowledged again and written once, by whichever host", () => {
    const stage = openStage();
    const first = stage.host(1);
    first.say(input("a"));
    first.say(input("a", "another text"));
    const second = stage.host(2);
    second.say(input("a"));
    expect([first.taken(), second.taken(), heard(stage)]).toEqual([["a", "a"], ["a"], ["a"]]);
  });

  test("[KP3] [KP9] on a full disk a line is refused, nothing is written, and it is taken when it is asked again", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.machine.files.failWrites(1);
    host.say(input("a"));
    expect(host.of("refused")).toMatchObject([{ key: "a", why: expect.stringContaining("ENOSPC") }]);
    expect([heard(stage), stage.inputLog()]).toEqual([[], []]);
    host.say(input("a"));
    expect([heard(stage), host.taken()]).toEqual([["a"], ["a"]]);
  });

  test("[KP3] [KP9] what comes behind a refused line is refused too until that one is asked again, whatever the host does", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.machine.files.failWrites(1);
    host.say(input("a"));
    host.say(input("b"));
    expect([heard(stage), host.of("refused").map(({ key }) => key)]).toEqual([[], ["a", "b"]]);
    host.say(input("a"));
    host.say(input("b"));
    expect(heard(stage)).toEqual(["a", "b"]);
  });

  test("[KP3] [KP9] the next host need not know what the last one was refused", () => {
    const stage = openStage();
    const first = stage.host(1);
    stage.machine.files.failWrites(1);
    first.say(input("a"));
    first.leave();
    stage.host(2).say(input("b"));
    expect(heard(stage)).toEqual(["b"]);
  });

  test("[KP3] [KP9] a disk that is full between the write and its mark holds the acknowledgement back until there is room", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.one.fifo.room = 5;
    host.say(input("a"));
    stage.machine.files.failWrites(3);
    stage.one.fifo.room = Number.POSITIVE_INFINITY;
    stage.machine.advance(500);
    expect([heard(stage), host.taken()]).toEqual([["a"], []]);
    stage.machine.advance(500);
    expect([heard(stage), host.taken(), stage.inputLog().at(-1)]).toEqual([["a"], ["a"], { done: "a" }]);
  });

  test("[KP3] a torn record of a crash is no record: the line is written when it is asked again", () => {
    const stage = openStage();
    const path = stage.one.place.inputLog;
    stage.machine.files.replace(
      path,
      `${JSON.stringify({ key: "a", line: line("a") })}\n{"done":"a"}\n{"key":"b","li\n`,
    );
    stage.killKeeper();
    const host = stage.host(1);
    host.say(input("a"));
    host.say(input("b"));
    expect([heard(stage), host.taken()]).toEqual([["b"], ["a", "b"]]);
  });
});

describe("a keeper that takes the place of a dead one", () => {
  test("[KP6] writes a newline first, so that a half-written line is closed, and tells which keys are in doubt", () => {
    const stage = openStage();
    const host = stage.host(1);
    host.say(input("a"));
    stage.one.fifo.room = 9;
    host.say(input("b"));
    stage.killKeeper();
    stage.one.fifo.room = Number.POSITIVE_INFINITY;
    const next = stage.host(1);
    stage.machine.advance(5);
    expect(stage.one.fifo.torn).toEqual([line("b").slice(0, 9)]);
    expect(next.of("attached")).toMatchObject([{ unsure: ["b"], agentPid: stage.one.mark.pid }]);
    next.say(input("b"));
    next.say(input("c"));
    expect([heard(stage), next.taken()]).toEqual([
      ["a", "c"],
      ["b", "c"],
    ]);
  });

  test("[KP6] an answer in doubt is written again, once, and in front of all that comes: its turn would wait for ever", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.one.fifo.room = 9;
    host.say(input("answer 7"));
    stage.killKeeper();
    stage.one.fifo.room = Number.POSITIVE_INFINITY;
    const next = stage.host(1);
    next.say(input("c"));
    stage.machine.advance(5);
    expect(next.of("attached")).toMatchObject([{ unsure: [] }]);
    next.say(input("answer 7"));
    expect([heard(stage), next.taken()]).toEqual([
      ["answer 7", "c"],
      ["answer 7", "c", "answer 7"],
    ]);
    stage.killKeeper();
    stage.host(2);
    stage.machine.advance(5);
    expect(heard(stage)).toEqual(["answer 7", "c"]);
  });

  test("[KP6] its newline is never inside a line of its own, also when the agent does not read for a while", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.one.fifo.room = 9;
    host.say(input("b"));
    stage.killKeeper();
    const next = stage.host(1);
    next.say(input("c"));
    stage.one.fifo.room = 4;
    stage.machine.advance(1);
    stage.one.fifo.room = Number.POSITIVE_INFINITY;
    stage.machine.advance(20);
    expect([heard(stage), stage.one.fifo.torn]).toEqual([["c"], [line("b").slice(0, 9)]]);
  });

  test("[KP6] what it wrote itself is never in doubt, however often hosts change", () => {
    const stage = openStage();
    stage.host(1);
    stage.one.fifo.room = 3;
    stage.host(2).say(input("a"));
    expect(stage.host(3).of("attached")).toMatchObject([{ unsure: [] }]);
  });

  test("[KP6] keeps the generation, and an ending stays an ending", () => {
    const stage = openStage({ ignores: ["EOF"] });
    const host = stage.host(7);
    host.say({ verb: "signal", signal: "EOF" });
    stage.killKeeper();
    expect(stage.state()).toMatchObject({ generation: 7, ending: true, exit: null });
    expect(stage.host(6).of("fenced")).toEqual([{ told: "fenced", generation: 7 }]);
  });

  test("[KP6] of an agent whose end nobody saw it tells an exit without code and signal", () => {
    const stage = openStage();
    stage.killKeeper();
    const host = stage.host(1);
    stage.one.agent.exit(3);
    stage.machine.advance(1);
    expect(host.of("exited")).toEqual([{ told: "exited", exit: { code: null, signal: null } }]);
  });
});

describe("hosts", () => {
  test("[KP8] an older generation is fenced and not heard", () => {
    const stage = openStage();
    const second = stage.host(2);
    const first = stage.host(1);
    first.say(input("a"));
    expect([first.told, first.closed, heard(stage)]).toEqual([[{ told: "fenced", generation: 2 }], true, []]);
    second.say(input("b"));
    expect(heard(stage)).toEqual(["b"]);
  });

  test("[KP8] a newer one fences who was there, and that one is not heard any more", () => {
    const stage = openStage();
    const first = stage.host(1);
    const second = stage.host(2);
    first.say(input("late"));
    second.say(input("a"));
    expect([first.of("fenced"), first.closed]).toEqual([[{ told: "fenced", generation: 2 }], true]);
    expect([heard(stage), stage.state().generation]).toEqual([["a"], 2]);
  });

  test("[KP8] of the same generation the last one counts: a host that lost its socket attaches again", () => {
    const stage = openStage();
    const first = stage.host(1);
    const again = stage.host(1);
    again.say(input("a"));
    expect([first.closed, again.taken()]).toEqual([true, ["a"]]);
  });

  test("[KP8] who never attached is not heard", () => {
    const stage = openStage();
    const stranger = stage.host();
    stranger.say(input("a"));
    stranger.say({ verb: "signal", signal: "SIGKILL" });
    expect([heard(stage), stage.one.agent.done, stranger.told]).toEqual([[], [], []]);
  });

  test("[KP10] verbs, fields and lines that it does not know are passed over, whatever a newer host says", () => {
    const stage = openStage();
    const host = stage.host(1);
    for (const odd of ["", "no json", "[]", "null", "7", '{"verb":"dance","ms":1}', '{"told":"attached"}'])
      host.say(odd);
    host.say({ ...input("a"), more: { of: "it" } });
    expect([heard(stage), host.taken(), host.closed]).toEqual([["a"], ["a"], false]);
  });

  test("[KP10] the hello has a version, and all that a host needs to go on", () => {
    const stage = openStage();
    stage.host(1).say(input("a"));
    const [attached] = stage.host(2).of("attached") as [Attached];
    expect(attached).toEqual({
      told: "attached",
      version: 1,
      pid: stage.keepers[0]?.pid ?? 0,
      agentPid: stage.one.mark.pid,
      inputEnd: stage.machine.files.texts.get(stage.one.place.inputLog)?.length ?? 0,
      exit: null,
      unsure: [],
    });
  });
});

describe("what is on disk", () => {
  test("[KP1] [KP7] pid and start time of keeper, agent and holder, the generation, and how it ended", () => {
    const stage = openStage();
    stage.host(4);
    const { mark } = stage.one;
    const state = {
      version: 1,
      keeper: { pid: stage.keepers[0]?.pid, startTime: "" },
      agent: mark,
      holder: { pid: mark.pid + 100, startTime: mark.startTime },
      generation: 4,
      ending: false,
      strays: [],
      failed: null,
    };
    expect(stage.state() as object).toEqual({ ...state, exit: null });
    stage.one.agent.exit(3);
    stage.machine.advance(1);
    expect(stage.state() as object).toEqual({ ...state, exit: { code: 3, signal: null } });
  });

  test("[KP15] what only the keeper finds of its agent's daemons, written when it changes: the next keeper knows them", () => {
    const stage = openStage();
    stage.machine.advance(3_000);
    stage.one.strays = [{ pid: 71, startTime: "then" }];
    stage.machine.advance(3_000);
    expect(stage.state().strays).toEqual([{ pid: 71, startTime: "then" }]);
    stage.killKeeper();
    expect(stage.state().strays).toEqual([{ pid: 71, startTime: "then" }]);
    stage.one.strays = [];
    stage.machine.advance(3_000);
    expect(stage.state().strays).toEqual([]);
  });

  test("[KP9] what could not be written on a full disk is written when there is room", () => {
    const stage = openStage();
    stage.machine.files.failWrites(3);
    const host = stage.host(9);
    expect(host.of("attached")).toHaveLength(1);
    expect(stage.state().generation).toBe(0);
    stage.machine.advance(5_000);
    expect(stage.state().generation).toBe(9);
    expect(stage.keepers[0]?.log.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test("[KP1] an agent that cannot be started is on record with the reason, and its keeper is gone", () => {
    const world = openKeeperWorld();
    world.failStart = "No such program";
    placeAt(world.machine.files, DIRECTORY).keepSpec(SPEC);
    world.startKeeper(DIRECTORY);
    world.machine.advance(20);
    expect(placeAt(world.machine.files, DIRECTORY).state()).toMatchObject({
      failed: "No such program",
      agent: null,
      exit: { code: null, signal: null },
    });
    expect(world.left).toBe(1);
  });

  test("[KP9] it looks at the length of its agent's stderr again and again", () => {
    const stage = openStage();
    stage.machine.advance(10_000);
    expect(stage.one.cuts).toBeGreaterThanOrEqual(9);
  });
});

describe("the end", () => {
  test("[KP7] without a host for its linger time it ends its agent by the ladder and the sweep, and leaves", () => {
    const stage = openStage({ ignores: ["EOF"] });
    stage.machine.advance(LINGER_MS - 2_000);
    expect(stage.one.agent.done).toEqual([]);
    stage.machine.advance(4_000);
    expect([stage.one.agent.done, stage.state().ending]).toEqual([["EOF"], true]);
    stage.machine.advance(10_000);
    expect(stage.one.agent.done).toEqual(["EOF", "SIGTERM", "SIGKILL", "sweep"]);
    expect([stage.left, stage.swept]).toEqual([1, [SPEC.tag]]);
  });

  test("[KP7] the linger time is the one it was told last, counted from when its last host left", () => {
    const stage = openStage();
    const host = stage.host(1);
    host.say({ verb: "linger", ms: 60_000 });
    stage.machine.advance(2 * LINGER_MS);
    expect(stage.one.agent.alive).toBe(true);
    host.leave();
    stage.machine.advance(58_000);
    expect(stage.one.agent.alive).toBe(true);
    stage.machine.advance(5_000);
    expect([stage.one.agent.alive, stage.left]).toEqual([false, 1]);
  });

  test("[KP7] a host that comes back in time stops the count", () => {
    const stage = openStage();
    stage.machine.advance(LINGER_MS - 5_000);
    stage.host(1);
    stage.machine.advance(3 * LINGER_MS);
    expect([stage.one.agent.alive, stage.left]).toEqual([true, 0]);
  });

  test("[KP15] before it leaves it sweeps, although the host has: daemons of its agent descend from it alone", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.one.agent.exit(0);
    stage.machine.advance(1);
    expect(stage.swept).toEqual([]);
    host.say({ verb: "leave" });
    expect([stage.swept, stage.left]).toEqual([[SPEC.tag], 1]);
  });

  test("[KP7] it leaves when it is told to, but not while its agent lives", () => {
    const stage = openStage();
    const host = stage.host(1);
    host.say({ verb: "leave" });
    expect(stage.left).toBe(0);
    stage.one.agent.exit(0);
    host.say({ verb: "leave" });
    expect([stage.left, host.of("exited")]).toEqual([1, [{ told: "exited", exit: { code: 0, signal: null } }]]);
  });

  test("[KP7] it ends its agent and leaves when its directory was removed", () => {
    const stage = openStage();
    stage.host(1);
    stage.machine.files.removeDirectory(DIRECTORY);
    stage.machine.advance(10_000);
    expect([stage.one.agent.alive, stage.left]).toEqual([false, 1]);
  });

  test("[KP6] a socket whose name was removed ends nobody: its host goes on, and the next one finds it again", () => {
    const stage = openStage();
    const host = stage.host(1);
    stage.lines.remove(SPEC.socket);
    stage.machine.advance(10_000);
    host.say(input("a"));
    expect([stage.one.agent.alive, stage.left, host.closed, heard(stage)]).toEqual([true, 0, false, ["a"]]);
    expect(stage.host(2).of("attached")).toHaveLength(1);
    expect(host.of("fenced")).toHaveLength(1);
  });

  test("[KP7] signals go to the group, EOF closes the input, and a host hears of the exit", () => {
    const stage = openStage({ ignores: ["EOF"] });
    const host = stage.host(1);
    host.say({ verb: "signal", signal: "EOF" });
    host.say({ verb: "signal", signal: "SIGTERM" });
    expect([stage.one.agent.done, host.of("exited")]).toEqual([
      ["EOF", "SIGTERM"],
      [{ told: "exited", exit: { code: null, signal: "SIGTERM" } }],
    ]);
  });
});
