// Does a seeded story of deaths end well? The real bridge code; only clock, loopback and disk are fake.
import type { HandOffState } from "../../src/bridge/hand-off.ts";
import { type Opened, opening, PORT } from "./bridges.ts";
import type { Dice } from "./dice.ts";
import { connectPlugin, type FakePlugin } from "./fake-plugin.ts";
import { createMachine, type FakeProcess, type Machine } from "./fake-world.ts";
import { squat } from "./squatter.ts";

export interface Ending {
  seed: number;
  story: readonly string[];
  /** What is wrong; undefined when exactly one hosts and all others are its clients. */
  wrong: string | undefined;
}

interface Cast {
  machine: Machine;
  peers: Opened[];
  left: Set<Opened>;
  others: FakeProcess[];
  /** How many of the next who take over die of it. */
  ambushes: number;
  tell(line: string): void;
}

const SETTLE_MS = 300_000;
const LOOK_MS = 20;
const STEADY_MS = 3_000;

const slowly = (dice: Dice): number =>
  dice.chance(0.1) ? dice.between(20, 1_500) : dice.chance(0.02) ? dice.between(1_900, 2_600) : 0;

const living = ({ peers, left }: Cast): Opened[] =>
  peers.filter((peer) => peer.process.state !== "dead" && !left.has(peer));

const hostOf = (cast: Cast): Opened | undefined => living(cast).find(({ bridge }) => bridge.role === "host");

function wrongWith(cast: Cast): string | undefined {
  const hosts = living(cast).filter(({ bridge }) => bridge.role === "host");
  const [host] = hosts;
  if (!host || hosts.length > 1) return `${hosts.length} hosts`;
  if (cast.machine.holder(PORT)?.pid !== host.process.pid) return "the host does not hold the port";
  const astray = living(cast).find(({ bridge }) => !bridge.isConnected || bridge.hostPid !== host.process.pid);
  return astray && `process ${astray.process.pid} is no client of the host`;
}

/** Looked at whenever somebody is promoted: there are never two, not for a moment. */
function checkAlone(cast: Cast): void {
  const hosts = living(cast).filter(({ bridge }) => bridge.role === "host");
  if (hosts.length > 1) throw new Error(`Processes ${hosts.map(({ process }) => process.pid)} host at once`);
}

function squatFor({ machine, others, tell }: Cast, dice: Dice): void {
  const how = dice.pick(["mute", "closing"] as const);
  const squatter = squat(machine, how);
  if (!squatter) return;
  others.push(squatter);
  const ms = dice.between(10, 20_000);
  tell(`${squatter.pid} holds the port, ${how}, for ${ms.toFixed()} ms`);
  machine.plan(ms, () => squatter.kill({ lingerMs: dice.between(0, 20) }));
}

function freeze({ machine, tell }: Cast, { process }: Opened, ms: number): void {
  process.freeze();
  tell(`${process.pid} is stopped for ${ms.toFixed()} ms`);
  machine.plan(ms, process.thaw);
}

function crash({ tell }: Cast, { process }: Opened, lingerMs: number): void {
  tell(`${process.pid} is killed, its port lingers ${lingerMs.toFixed()} ms`);
  process.kill({ lingerMs });
}

function leave({ machine, left, tell }: Cast, peer: Opened, dice: Dice): void {
  tell(`${peer.process.pid} leaves`);
  left.add(peer);
  peer.bridge.disconnect().then(() => peer.process.kill());
  if (dice.chance(0.1)) machine.plan(dice.between(0, 2), () => peer.process.kill());
}

function strike(cast: Cast, dice: Dice): void {
  const alive = living(cast);
  const host = hostOf(cast);
  const any = dice.pick(alive);
  const roll = dice.roll();
  if (roll < 0.1) return freeze(cast, any, dice.between(10, 20_000));
  if (roll < 0.2) return freeze(cast, host ?? any, dice.between(10, 90_000));
  if (alive.length === 1) return;
  const lingerMs = dice.chance(0.4) ? dice.between(0, 40) : 0;
  if (roll < 0.3) return crash(cast, any, lingerMs);
  const victim = host ?? any;
  if (dice.chance(0.3)) cast.ambushes += dice.whole(1, 3);
  if (roll < 0.5 && victim.process.state === "running") return leave(cast, victim, dice);
  if (roll < 0.8) return crash(cast, victim, lingerMs);
  crash(cast, victim, 0);
  squatFor(cast, dice);
}

/** Dies in the middle of taking over, or as soon as it hosts. */
function ambush(cast: Cast, process: FakeProcess, state: HandOffState, dice: Dice): void {
  if (cast.ambushes === 0 || (state !== "taking-over" && state !== "promoted")) return;
  cast.ambushes--;
  cast.machine.plan(dice.between(0, 5), () => {
    if (living(cast).length === 1 || process.state === "dead") return;
    cast.tell(`${process.pid} dies when ${state}`);
    process.kill({ lingerMs: dice.chance(0.3) ? dice.between(0, 40) : 0 });
  });
}

function start(cast: Cast, count: number, dice: Dice): void {
  const { machine, peers } = cast;
  const together = dice.chance(0.3);
  const opened = Array.from({ length: count }, () => {
    if (!together) machine.advance(dice.between(1, 40));
    const process = machine.process();
    const handOff = (state: HandOffState): void => {
      ambush(cast, process, state, dice);
      if (state === "promoted") machine.plan(0, () => checkAlone(cast));
    };
    return opening(machine, { process, listener: { handOff } }).then((peer) => void peers.push(peer));
  });
  machine.wait(Promise.all(opened));
  machine.advance(dice.between(0, 50));
}

export function simulate(seed: number, plugins = 0): Ending {
  const machine = createMachine({ seed, latencyMs: (dice) => dice.between(0.05, 2), connectMs: slowly });
  const { dice } = machine;
  const story: string[] = [];
  const tell = (line: string): void => void story.push(`${machine.now.toFixed(1)} ms: ${line}`);
  const cast: Cast = { machine, peers: [], left: new Set(), others: [], ambushes: 0, tell };
  try {
    start(cast, 1 + dice.whole(1, 8), dice);
    tell(`${cast.peers.length} processes, ${hostOf(cast)?.process.pid} hosts`);
    const connected = Array.from({ length: plugins }, (_, index) =>
      connectPlugin(machine, { instanceId: `p${index}` }),
    );
    for (let blows = dice.whole(1, 5); blows > 0; blows--) {
      strike(cast, dice);
      machine.advance(dice.chance(0.6) ? dice.between(0, 800) : dice.between(800, 40_000));
    }
    settle(cast, connected);
    return { seed, story, wrong: undefined };
  } catch (thrown) {
    return { seed, story, wrong: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function settle(cast: Cast, plugins: readonly FakePlugin[]): void {
  const { machine } = cast;
  for (const { process } of cast.peers) process.thaw();
  for (const process of cast.others) process.kill();
  const isBack = ({ client }: FakePlugin) => client.life.state === "connected";
  const areKnown = ({ bridge }: Opened) => bridge.listSessions().length === plugins.length;
  const isWell = () => !wrongWith(cast) && plugins.every(isBack) && living(cast).every(areKnown);
  try {
    for (let waited = 0; waited < SETTLE_MS && !isWell(); waited += LOOK_MS) machine.advance(LOOK_MS);
    machine.advance(STEADY_MS);
    machine.until(isWell, 1);
  } catch (thrown) {
    throw new Error(`In the end: ${wrongWith(cast) ?? "plugins are missing"}`, { cause: thrown });
  }
  const host = hostOf(cast);
  const others = living(cast).filter((peer) => peer !== host);
  const pids = (from: readonly { pid: number | null }[]): string =>
    from
      .map(({ pid }) => pid)
      .toSorted()
      .join(" ");
  for (const { bridge, told } of living(cast)) {
    const status = machine.wait(bridge.status());
    if (status.pid !== host?.process.pid) throw new Error(`Status comes from ${status.pid}`);
    const expected = pids(others.filter((peer) => peer.bridge !== bridge).map(({ process }) => process));
    if (pids(status.clients) !== expected) throw new Error(`The host has ${pids(status.clients)}, not ${expected}`);
    if (told.some(({ name }) => name === "ended")) throw new Error("A connection ended");
  }
}
