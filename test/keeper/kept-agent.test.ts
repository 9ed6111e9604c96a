// What does a host see of an agent that a keeper holds? A process like any other, whoever of the two dies.
import { describe, expect, test } from "bun:test";
import type { KeptAgents } from "../../src/keeper/keepers.ts";
import type { AgentExit, AgentProcess, LeftAgent } from "../../src/platform/agent-world.ts";
import type { FakeAgentOptions } from "../agents/fake-agent.ts";
import type { FakeProcess, Machine } from "../support/fake-world.ts";
import { type Held, type KeeperWorld, LINGER_MS, openKeeperWorld } from "./keeper-world.ts";

interface TestHost {
  readonly process: FakeProcess;
  readonly keepers: KeptAgents;
  /** In order: pieces of output, and how it ended. */
  readonly told: (string | AgentExit)[];
  readonly unsure: string[];
  readonly fenced: number;
  start(run?: string): AgentProcess;
  adopt(offset?: number): AgentProcess;
}

function leftBy(keepers: KeptAgents, machine: Machine): LeftAgent[] {
  const left = keepers.left(new AbortController().signal);
  machine.wait(Promise.all(left.map(({ taken }) => taken)));
  return left;
}

function openHost(world: KeeperWorld): TestHost {
  const process = world.machine.process();
  const told: (string | AgentExit)[] = [];
  const unsure: string[] = [];
  let fenced = 0;
  const keepers = world.keepersOf(process, undefined, () => void fenced++);
  const events = {
    output: (bytes: Uint8Array) => void told.push(Buffer.from(bytes).toString()),
    unsure: (keys: readonly string[]) => void unsure.push(...keys),
  };
  const seen = (agent: AgentProcess): AgentProcess => {
    void agent.exited.then((exit) => told.push(exit));
    return agent;
  };
  return {
    process,
    keepers,
    told,
    unsure,
    get fenced() {
      return fenced;
    },
    start(run = "run1") {
      const command = { agent: "demo", run, command: "demo", args: [], env: {}, cwd: "/" };
      const started = keepers.spawn(command, events);
      if (started.kind !== "started") throw new Error("Missing");
      world.machine.advance(50);
      return seen(started.process);
    },
    adopt(offset = 0) {
      const [left] = leftBy(keepers, world.machine);
      if (!left) throw new Error("Nothing was left");
      const agent = seen(left.adopt(offset, events));
      world.machine.advance(50);
      return agent;
    },
  };
}

function openStage(options: FakeAgentOptions = {}) {
  const world = openKeeperWorld(options);
  const host = openHost(world);
  const agent = host.start();
  const one = world.held[0] as Held;
  const { machine } = world;
  return { world, machine, host, agent, one };
}

const line = (method: string): string => JSON.stringify({ jsonrpc: "2.0", method });
const MIB = 1024 * 1024;
const giveBack = async ({ kept }: AgentProcess, out: number, input: number) =>
  await kept?.giveBack(out * MIB, input * MIB);
const heard = ({ agent }: Held) => agent.heard.map(({ method }) => method);
const keeperDirectories = ({ files }: Machine) => files.list("/state/keepers");

describe("a host and a keeper", () => {
  test("[KP1] output comes from the file, input goes through the keeper, each line once", () => {
    const { machine, host, agent, one, world } = openStage();
    agent.write(line("a"), "a");
    agent.write(line("a"), "a");
    world.append(one, "torn li");
    world.append(one, "ne\n");
    machine.advance(5);
    expect([host.told.join(""), heard(one)]).toEqual(["torn line\n", ["a"]]);
    expect([agent.pid, agent.kept?.keeperPid]).toEqual([one.mark.pid, world.keepers[0]?.pid ?? 0]);
  });

  test("[KP3] what was written before the keeper was there is sent when it is", () => {
    const world = openKeeperWorld();
    const host = openHost(world);
    const started = host.keepers.spawn(
      { agent: "demo", run: "run1", command: "demo", args: [], env: {}, cwd: "/" },
      { output() {} },
    );
    if (started.kind !== "started") throw new Error("Missing");
    started.process.write(line("a"), "a");
    expect(started.process.kept?.inputEnd).toBeUndefined();
    world.machine.advance(50);
    expect(heard(world.held[0] as Held)).toEqual(["a"]);
    expect(started.process.kept?.inputEnd).toBe(
      world.machine.files.texts.get("/state/keepers/run1/in.log")?.length ?? 0,
    );
  });

  test("[KP3] a line without an acknowledgement is sent to the next keeper, and written once whatever the first one did", () => {
    for (const room of [0, 7, Number.POSITIVE_INFINITY]) {
      const { machine, world, host, agent, one } = openStage();
      one.fifo.room = room;
      agent.write(line("a"), "a");
      // The keeper may have it, and dies before its answer is heard.
      machine.advance(0.15);
      world.keepers[0]?.kill();
      one.fifo.room = Number.POSITIVE_INFINITY;
      machine.advance(200);
      agent.write(line("b"), "b");
      machine.advance(50);
      expect({ room, heard: heard(one), inputEnd: agent.kept?.inputEnd !== undefined }).toEqual({
        room,
        heard: room === Number.POSITIVE_INFINITY ? ["a", "b"] : ["b"],
        inputEnd: true,
      });
      expect({ room, unsure: host.unsure }).toEqual({
        room,
        unsure: room === Number.POSITIVE_INFINITY ? [] : ["a"],
      });
    }
  });

  test("[KP3] a line that the dead keeper never got is written by the next one", () => {
    const { machine, world, host, agent, one } = openStage();
    world.keepers[0]?.kill();
    agent.write(line("a"), "a");
    machine.advance(200);
    expect([heard(one), host.unsure, world.keepers.length]).toEqual([["a"], [], 2]);
  });

  test("[KP3] [KP9] nothing passes a line that a full disk refused: a cancel comes behind its prompt", () => {
    for (const failures of [1, 2, 3]) {
      const { machine, agent, one } = openStage();
      machine.files.failWrites(failures);
      agent.write(line("session/prompt"), "a");
      agent.write(line("session/cancel"), "b");
      machine.advance(100);
      agent.write(line("session/prompt"), "c");
      machine.advance(5_000);
      const expected = ["session/prompt", "session/cancel", "session/prompt"];
      expect({ failures, heard: heard(one) }).toEqual({ failures, heard: expected });
      expect(agent.kept?.inputEnd).toBeDefined();
    }
  });

  test("[KP9] a line that a full disk refused is asked again until it is taken", () => {
    const { machine, agent, one } = openStage();
    machine.files.failWrites(3);
    agent.write(line("a"), "a");
    machine.advance(1_000);
    expect([heard(one), agent.kept?.inputEnd]).toEqual([[], undefined]);
    machine.advance(1_000);
    expect([heard(one), agent.kept?.inputEnd !== undefined]).toEqual([["a"], true]);
  });

  test("[KP6] its keeper dies ten times: the agent notices nothing, output goes on, nothing is lost", () => {
    const { machine, world, host, agent, one } = openStage();
    for (let death = 0; death < 10; death++) {
      world.append(one, `${death}\n`);
      world.keepers.at(-1)?.kill();
      world.append(one, `${death} again\n`);
      agent.write(line(`m${death}`), `m${death}`);
      machine.advance(200);
    }
    const numbers = Array.from({ length: 10 }, (_, death) => death);
    expect(host.told.join("")).toBe(numbers.map((death) => `${death}\n${death} again\n`).join(""));
    expect([heard(one), one.agent.done]).toEqual([numbers.map((death) => `m${death}`), []]);
    expect(world.keepers.filter(({ state }) => state !== "dead")).toHaveLength(1);
  });

  test("[KP6] keepers that die while they start cost nothing but their time: the agent is never ended for them", () => {
    const { machine, world, host, agent, one } = openStage();
    world.keepers[0]?.kill();
    for (let death = 1; death <= 8; death++) {
      for (let waited = 0; world.keepers.length === death && waited < 2_000; waited++) machine.advance(1);
      // In front of its claim, between claim and state, and behind them.
      machine.advance(6 + death);
      world.keepers[death]?.kill();
    }
    agent.write(line("a"), "a");
    world.append(one, "on\n");
    machine.advance(15_000);
    expect([host.told, heard(one), one.agent.done]).toEqual([["on\n"], ["a"], []]);
    expect(world.keepers.map(({ state }) => state)).toEqual([...Array(9).fill("dead"), "running"]);
  });

  test("[KP6] they are not started without a pause, and their agent lives on as long as there is hope", () => {
    const { machine, world, one } = openStage();
    for (let ms = 0; ms < 8_000; ms++) {
      for (const keeper of world.keepers) if (keeper.state !== "dead") keeper.kill();
      machine.advance(1);
    }
    expect(world.keepers.length).toBeLessThan(40);
    machine.advance(500);
    expect([one.agent.done, world.keepers.at(-1)?.state]).toEqual([[], "running"]);
  });

  test("[KP6] where no process is to be had for a moment it is tried again", () => {
    const { machine, world, agent, one, host } = openStage();
    world.failForks = 5;
    world.keepers[0]?.kill();
    agent.write(line("a"), "a");
    machine.advance(3_000);
    expect([heard(one), one.agent.done, host.told]).toEqual([["a"], [], []]);
    expect(host.process.log.filter(({ message }) => message.includes("EAGAIN"))).toHaveLength(1);
  });

  test("[KP1] the first keeper that cannot be started is an error at once, and leaves nothing", () => {
    const world = openKeeperWorld();
    world.failForks = 1;
    expect(() => openHost(world).start()).toThrow("EAGAIN");
    expect(keeperDirectories(world.machine)).toEqual([]);
  });

  test("[KP6] [KP9] on a full disk nobody can take turns: one of two keepers is left, and it is not the other's to end", () => {
    const { machine, world, agent, one, host } = openStage();
    machine.files.failWrites(Number.POSITIVE_INFINITY);
    world.keepers[0]?.kill();
    world.startKeeper(one.place.directory);
    world.startKeeper(one.place.directory);
    machine.advance(100);
    expect(world.keepers.filter(({ state }) => state !== "dead").length).toBeGreaterThan(1);
    machine.files.failWrites(0);
    machine.advance(2 * LINGER_MS);
    agent.write(line("a"), "a");
    machine.advance(50);
    expect(world.keepers.filter(({ state }) => state !== "dead")).toHaveLength(1);
    expect([heard(one), one.agent.done, host.told]).toEqual([["a"], [], []]);
  });

  test("[KP6] keepers that start at the same instant, of two hosts say, agree on one", () => {
    const { machine, world, agent, one, host } = openStage();
    world.keepers[0]?.kill();
    world.startKeeper(one.place.directory);
    world.startKeeper(one.place.directory);
    machine.advance(300);
    agent.write(line("a"), "a");
    machine.advance(2 * LINGER_MS);
    expect(world.keepers.filter(({ state }) => state !== "dead")).toHaveLength(1);
    expect([heard(one), one.agent.done, host.told]).toEqual([["a"], [], []]);
  });

  test("[KP6] one that dies before it has started its agent: the next one starts it, and nobody hears of it", () => {
    const world = openKeeperWorld();
    const host = openHost(world);
    const { machine } = world;
    machine.plan(5, () => world.keepers[0]?.kill());
    const agent = host.start();
    machine.advance(300);
    agent.write(line("a"), "a");
    machine.advance(5);
    expect([host.told, world.keepers.length, world.held.map(heard)]).toEqual([[], 2, [["a"]]]);
  });

  test("[KP6] keeper and agent die together: what was said is told, then that nobody knows how it ended", () => {
    const { machine, world, host, one } = openStage();
    world.append(one, "last words\n");
    one.agent.exit(1);
    world.keepers[0]?.kill();
    machine.advance(200);
    expect(host.told).toEqual(["last words\n", { code: null, signal: null }]);
    expect(world.keepers).toHaveLength(1);
  });

  test("[KP13] a keeper that dies while nobody can be looked at, as without descriptors: its agent is not called dead", () => {
    const { machine, world, host, one } = openStage();
    world.isBlind = true;
    world.keepers[0]?.kill();
    machine.advance(5_000);
    expect([host.told, one.agent.alive, world.keepers.length]).toEqual([[], true, 1]);
    world.isBlind = false;
    machine.advance(500);
    world.append(one, "still here\n");
    machine.advance(50);
    expect([host.told, world.keepers.length]).toEqual([["still here\n"], 2]);
  });

  test("[KP6] a keeper that is frozen is waited for, not replaced: two of them would write at once", () => {
    const { machine, world, agent, one, host } = openStage();
    world.keepers[0]?.freeze();
    agent.write(line("a"), "a");
    machine.advance(5_000);
    world.keepers[0]?.thaw();
    machine.advance(50);
    expect([heard(one), world.keepers.length, host.told]).toEqual([["a"], 1, []]);
  });
});

describe("the end of an agent", () => {
  test("[KP1] what it said last is told before its end", () => {
    const { machine, host, one, world } = openStage();
    // Nobody has looked at the file yet when its end is heard.
    world.tailLagMs = 50;
    one.agent.exit(3);
    world.append(one, "after all\n");
    machine.advance(5);
    expect(host.told).toEqual(["after all\n", { code: 3, signal: null }]);
  });

  test("[KP7] when it is forgotten nothing is left: no directory, no keeper, no socket", () => {
    const { machine, world, agent, one } = openStage();
    one.agent.exit(0);
    machine.advance(5);
    agent.kept?.forget();
    machine.advance(2_000);
    expect([keeperDirectories(machine), world.left, world.keepers[0]?.state]).toEqual([[], 1, "dead"]);
  });

  test("[KP15] keeper and agent died together: a host ends what the keeper had seen of its daemons", () => {
    const { machine, world, agent, one } = openStage();
    one.strays = [{ pid: 71, startTime: "then" }];
    machine.advance(5_000);
    world.keepers[0]?.kill();
    one.agent.exit(null, "SIGKILL");
    machine.advance(100);
    agent.sweep();
    expect(world.swept).toEqual(["tag-1", "stray 71"]);
  });

  test("[KP1] one that never started: its end is told, with the reason in the log", () => {
    const world = openKeeperWorld();
    world.failStart = "EACCES";
    const host = openHost(world);
    host.start();
    world.machine.advance(100);
    expect(host.told).toEqual([{ code: null, signal: null }]);
    expect(host.process.log.map(({ message }) => message)).toContainEqual(expect.stringContaining("EACCES"));
  });
});

describe("the next host", () => {
  test("[KP2] goes on behind an offset, with all that was said while there was none, and ends the old one's tail", () => {
    const { machine, world, host, one } = openStage();
    world.append(one, "one\n");
    machine.advance(5);
    host.process.kill();
    world.append(one, "two\n");
    const next = openHost(world);
    next.adopt(4);
    world.append(one, "three\n");
    machine.advance(5);
    expect([host.told, next.told.join("")]).toEqual([["one\n"], "two\nthree\n"]);
  });

  test("[KP8] the older host hears that it is fenced, once, and neither reads nor writes any more", () => {
    const { machine, world, host, agent, one } = openStage();
    const next = openHost(world);
    expect(next.keepers.generation).toBe(host.keepers.generation + 1);
    next.adopt();
    agent.write(line("late"), "late");
    world.append(one, "words\n");
    machine.advance(5_000);
    expect([host.fenced, host.told, next.fenced, next.told]).toEqual([1, [], 0, ["words\n"]]);
    expect([heard(one), world.keepers.length]).toEqual([[], 1]);
  });

  test("[KP3] what the first host wrote and did not hear of is written once when the next one asks for it too", () => {
    const { machine, world, host, agent, one } = openStage();
    agent.write(line("a"), "a");
    machine.advance(0.15);
    host.process.kill();
    const next = openHost(world);
    const [left] = leftBy(next.keepers, machine);
    expect(left?.inputs(0)).toEqual([{ key: "a", line: line("a") }]);
    left?.adopt(0, { output() {} }).write(line("a"), "a");
    machine.advance(50);
    expect(heard(one)).toEqual(["a"]);
  });

  test("[KP6] host and keeper died together: the agent is adopted with a new keeper", () => {
    const { machine, world, host, one } = openStage();
    world.keepers[0]?.kill();
    host.process.kill();
    world.append(one, "alone\n");
    const next = openHost(world);
    const adopted = next.adopt();
    adopted.write(line("a"), "a");
    machine.advance(50);
    expect([next.told, heard(one), adopted.pid]).toEqual([["alone\n"], ["a"], one.mark.pid]);
  });

  test("[KP10] what the first release wrote is adopted, letter by letter as it wrote it", () => {
    const { machine, world, host, one } = openStage();
    world.keepers[0]?.kill();
    host.process.kill();
    const { directory } = one.place;
    const { pid, startTime } = one.mark;
    machine.files.removeDirectory(directory);
    machine.files.replace(
      `${directory}/spec.json`,
      `{"version":1,"agent":"demo","run":"run1","command":"/bin/demo","args":[],"env":{},"cwd":"/","tag":"tag-1","socket":"${directory}/s","lingerMs":1800000}`,
    );
    machine.files.replace(
      `${directory}/state.json`,
      `{"version":1,"agent":{"pid":${pid},"startTime":"${startTime}"},"holder":{"pid":${pid + 100},"startTime":"${startTime}"},"generation":1,"ending":false,"exit":null,"failed":null,"keeper":{"pid":999999,"startTime":""}}`,
    );
    machine.files.replace(
      `${directory}/in.log`,
      '{"key":"a","line":"{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"a\\"}"}\n{"done":"a"}\n',
    );
    machine.files.replace(`${directory}/out`, "said before\n");
    const next = openHost(world);
    const adopted = next.adopt();
    adopted.write(line("a"), "a");
    adopted.write(line("b"), "b");
    machine.advance(50);
    expect([next.told, next.unsure, heard(one)]).toEqual([["said before\n"], [], ["b"]]);
    expect([adopted.pid, one.agent.done]).toEqual([pid, []]);
  });

  test("[KP4] of an agent that is gone it gets the last words first, and then the end that its keeper saw", () => {
    const { machine, world, host, one } = openStage();
    host.process.kill();
    world.append(one, "bye\n");
    one.agent.exit(7);
    machine.advance(5);
    const next = openHost(world);
    const [left] = leftBy(next.keepers, machine);
    expect([left?.isGone, left?.isEnding]).toEqual([true, false]);
    const agent = left?.adopt(0, { output: (bytes) => void next.told.push(Buffer.from(bytes).toString()) });
    void agent?.exited.then((exit) => next.told.push(exit));
    machine.advance(5);
    expect(next.told).toEqual(["bye\n", { code: 7, signal: null }]);
    agent?.kept?.forget();
    machine.advance(2_000);
    expect([keeperDirectories(machine), world.left]).toEqual([[], 1]);
  });

  test("[KP4] all three died: what was said is there, nobody knows the end, and no keeper is started for the dead", () => {
    const { machine, world, host, one } = openStage();
    world.append(one, "bye\n");
    one.agent.exit(7);
    world.keepers[0]?.kill();
    host.process.kill();
    const next = openHost(world);
    next.adopt();
    machine.advance(50);
    expect([next.told, world.keepers.length]).toEqual([["bye\n", { code: null, signal: null }], 1]);
  });

  test("[KP7] one that was told to end is not adopted as a working one", () => {
    const { machine, world, host, agent } = openStage({ ignores: ["EOF"] });
    agent.closeInput();
    machine.advance(5);
    host.process.kill();
    const [left] = leftBy(openHost(world).keepers, machine);
    expect([left?.isEnding, left?.isGone]).toEqual([true, false]);
  });

  test("[KP7] a place without an agent, as a host leaves it that dies too early, is removed; what is no place is passed over", () => {
    const world = openKeeperWorld();
    const { machine } = world;
    machine.files.replace("/state/keepers/abc/out", "");
    machine.files.replace("/state/keepers/def/spec.json", "{torn");
    machine.files.replace("/state/keepers/not a run/file", "");
    expect(leftBy(openHost(world).keepers, machine)).toEqual([]);
    expect(keeperDirectories(machine)).toEqual(["not a run"]);
  });

  test("[KP10] a pid that came back is not the agent: it is gone, and nobody is started or signalled", () => {
    const { machine, world, host, one } = openStage();
    world.keepers[0]?.kill();
    host.process.kill();
    const path = `${one.place.directory}/state.json`;
    const state = world.state(one);
    machine.files.replace(path, JSON.stringify({ ...state, agent: { ...state.agent, startTime: "another" } }));
    const [left] = leftBy(openHost(world).keepers, machine);
    expect([left?.isGone, world.keepers.length, one.agent.done]).toEqual([true, 1, []]);
  });
});

describe("what a host does for the next one", () => {
  test("[KP8] it leaves an agent without a word, and the next one has it", () => {
    const { machine, world, agent, one, host } = openStage();
    agent.kept?.release();
    world.append(one, "alone\n");
    machine.advance(5);
    expect([host.told, host.fenced, one.agent.alive]).toEqual([[], 0, true]);
    const next = openHost(world);
    next.adopt();
    expect(next.told).toEqual(["alone\n"]);
  });

  test("[KP7] a linger time that was told counts for the keeper", () => {
    const { machine, agent, one, world } = openStage();
    agent.kept?.linger(10_000);
    machine.advance(5);
    agent.kept?.release();
    machine.advance(20_000);
    expect([one.agent.alive, world.left]).toEqual([false, 1]);
  });

  test("[KP9] room is given back above 64 MB, and again after as much", () => {
    const { agent, world, one, machine } = openStage();
    for (const [out, input] of [
      [1, 0],
      [63, 0],
      [64, 0],
      [65, 0],
      [127, 0],
      [127, 1],
    ] as const)
      expect(machine.wait(giveBack(agent, out, input))).toBe(true);
    expect(world.punched).toEqual([
      [one.place.out, 64 * MIB],
      [one.place.out, 127 * MIB],
      [one.place.inputLog, MIB],
    ]);
  });

  test("[KP9] where no holes can be made it says so each time, tries once, and counts nothing as given back", () => {
    const { agent, world, machine } = openStage();
    world.canPunch = false;
    const given = [63, 64, 65, 200].map((out) => machine.wait(giveBack(agent, out, 1)));
    expect([given, world.punched.length]).toEqual([[false, false, false, false], 2]);
    expect(machine.wait(giveBack(agent, 62, 1))).toBe(true);
  });

  test("[KP4] a checkpoint is what the next one is given", () => {
    const { machine, world, agent, host } = openStage();
    agent.kept?.checkpoint("{}");
    agent.kept?.checkpoint('{"out":5}');
    host.process.kill();
    const [left] = leftBy(openHost(world).keepers, machine);
    expect(left?.checkpoint).toBe('{"out":5}');
  });
});

describe("the port's directory", () => {
  test("[KP8] each host counts the generation up; a full disk or a broken file is no obstacle", () => {
    const { machine } = openKeeperWorld();
    const world = openKeeperWorld({ machine });
    expect([openHost(world).keepers.generation, openHost(world).keepers.generation]).toEqual([1, 2]);
    machine.files.failWrites(1);
    expect(openHost(world).keepers.generation).toBe(3);
    machine.files.failWrites(0);
    machine.files.replace("/state/generation", "what?");
    expect(openHost(world).keepers.generation).toBe(1);
  });
});
