// On what do keepers stand in a test? The real keeper and the real host's side of it, over agents, sockets and files in memory.
import { keep } from "../../src/keeper/keeper.ts";
import { createKeepers, type KeptAgents } from "../../src/keeper/keepers.ts";
import { type KeeperSpec, type KeeperState, type Place, placeAt } from "../../src/keeper/place.ts";
import { taskOf } from "../../src/keeper/task.ts";
import { type HostLine, parseLine } from "../../src/keeper/wire.ts";
import type {
  AgentExit,
  AgentProcess,
  Generation,
  HeldAgent,
  Life,
  LineEvents,
  ProcessMark,
  Tail,
} from "../../src/platform/agent-world.ts";
import { filesUnder, takeGeneration } from "../../src/platform/generation.ts";
import type { Whereabouts } from "../../src/protocol/whereabouts.ts";
import { createFakeAgents, type FakeAgent, type FakeAgentOptions, type FakeAgents } from "../agents/fake-agent.ts";
import { createFakeLines, type FakeLines } from "../support/fake-lines.ts";
import { createMachine, type FakeProcess, type Machine } from "../support/fake-world.ts";

export interface Fifo {
  /** What was written to it, as it was written. */
  readonly writes: { text: string; inputLog: string }[];
  /** Lines that are no JSON. */
  readonly torn: string[];
  /** It takes so many characters more, and then nobody reads. */
  room: number;
}

export interface Held {
  readonly place: Place;
  readonly agent: FakeAgent;
  readonly fifo: Fifo;
  readonly mark: ProcessMark;
  cuts: number;
  /** What it started that only its keeper finds. */
  strays: ProcessMark[];
}

export interface KeeperWorld {
  readonly machine: Machine;
  readonly lines: FakeLines;
  readonly agents: FakeAgents;
  /** Agents with all that belongs to them, oldest first. */
  readonly held: Held[];
  /** Keeper processes, oldest first. */
  readonly keepers: FakeProcess[];
  /** How many of them have left by themselves. */
  readonly left: number;
  readonly punched: [path: string, bytes: number][];
  readonly swept: string[];
  /** Linger times that keepers were told, oldest first. */
  readonly lingers: number[];
  keepersOf(host: FakeProcess, generation?: Generation, fenced?: () => void): KeptAgents;
  startKeeper(directory: string): FakeProcess;
  /** The agent says this much of a line, straight to its file. */
  append(held: Held, text: string): void;
  state(held?: Held): KeeperState;
  lifeOf(mark: ProcessMark): Life;
  /** Where hosts run that are opened from now on; undefined as on systems that do not tell. */
  here: Whereabouts | undefined;
  /** As where no descriptor is left to look with. */
  isBlind: boolean;
  tail(host: FakeProcess, path: string, from: number, tell: (bytes: Uint8Array) => void): Tail;
  failStart: string | undefined;
  /** So many keepers cannot be started, as on a machine without room for a process. */
  failForks: number;
  /** False: as where files cannot have holes. */
  canPunch: boolean;
  /** So long after it was written output is told. */
  tailLagMs: number;
}

const UNKNOWN: AgentExit = { code: null, signal: null };
export const LINGER_MS = 30 * 60_000;

export function openKeeperWorld(options: FakeAgentOptions & { machine?: Machine } = {}): KeeperWorld {
  const { machine = createMachine(), ...agentOptions } = options;
  const { files } = machine;
  const lines = createFakeLines(machine);
  const agents = createFakeAgents(agentOptions);
  const held: Held[] = [];
  const keepers: FakeProcess[] = [];
  const hosts: FakeProcess[] = [];
  const processes = new Map<Held, AgentProcess>();
  const tails = new Map<string, Set<() => void>>();
  const punched: [string, number][] = [];
  const swept: string[] = [];
  const lingers: number[] = [];
  let left = 0;

  const appendTo = (path: string, text: string): void => {
    // Not by way of a file that may be full: nothing here fails an agent.
    (files.texts as Map<string, string>).set(path, (files.texts.get(path) ?? "") + text);
    for (const look of tails.get(path) ?? []) machine.plan(world.tailLagMs, look);
  };

  const hold = (keeper: FakeProcess, one: Held, exited: Promise<AgentExit>, tag: string): HeldAgent => {
    const process = processes.get(one) as AgentProcess;
    const { fifo } = one;
    const pour = (text: string): void => {
      fifo.writes.push({ text, inputLog: files.texts.get(one.place.inputLog) ?? "" });
      rest.set(one, (rest.get(one) ?? "") + text);
      const whole = (rest.get(one) ?? "").split("\n");
      rest.set(one, whole.pop() ?? "");
      for (const line of whole.filter(Boolean)) {
        try {
          JSON.parse(line);
          process.write(line);
        } catch {
          fifo.torn.push(line);
        }
      }
    };
    const write = async (text: string): Promise<void> => {
      for (let at = 0; at < text.length && one.agent.alive; ) {
        const piece = text.slice(at, at + Math.min(fifo.room, text.length));
        if (piece !== "") {
          fifo.room -= piece.length;
          at += piece.length;
          pour(piece);
        }
        if (at < text.length) await keeper.clock.sleep(1);
      }
    };
    return {
      agent: one.mark,
      holder: { pid: one.mark.pid + 100, startTime: one.mark.startTime },
      write,
      closeInput: process.closeInput,
      signalGroup: process.signalGroup,
      sweep() {
        swept.push(tag);
        return process.sweep();
      },
      // The dead hear nothing.
      exited: new Promise((resolve) => void exited.then((exit) => keeper.enter(() => resolve(exit)))),
      strays: () => one.strays,
      cutErrors: () => void one.cuts++,
    };
  };
  const rest = new Map<Held, string>();

  const start = (keeper: FakeProcess, place: Place, spec: KeeperSpec): HeldAgent => {
    if (world.failStart !== undefined) throw new Error(world.failStart);
    const output = (bytes: Uint8Array): void => appendTo(place.out, Buffer.from(bytes).toString());
    const started = agents.spawn(spec, { output });
    if (started.kind !== "started") throw new Error("Missing");
    const fifo: Fifo = { writes: [], torn: [], room: Number.POSITIVE_INFINITY };
    const mark = { pid: started.process.pid, startTime: `started ${machine.now}` };
    const one: Held = { place, agent: agents.latest, fifo, mark, cuts: 0, strays: [] };
    held.push(one);
    processes.set(one, started.process);
    return hold(keeper, one, started.process.exited, spec.tag);
  };

  const adopt = (keeper: FakeProcess, mark: ProcessMark, spec: KeeperSpec): HeldAgent => {
    const one = held.find((each) => each.mark.pid === mark.pid);
    if (!one) throw new Error(`There is no agent ${mark.pid}`);
    const exited = processes.get(one)?.exited.then(() => UNKNOWN) ?? Promise.resolve(UNKNOWN);
    return hold(keeper, one, exited, spec.tag);
  };

  const isAlive = ({ pid, startTime }: ProcessMark): boolean =>
    [...keepers, ...hosts].some((each) => each.pid === pid && each.state !== "dead") ||
    held.some(({ mark, agent }) => mark.pid === pid && mark.startTime === startTime && agent.alive);
  const lifeOf = (mark: ProcessMark): Life => (world.isBlind ? "unknown" : isAlive(mark) ? "alive" : "dead");
  const isDead = (mark: ProcessMark): boolean => lifeOf(mark) === "dead";

  const overheard = (events: LineEvents): LineEvents => ({
    ...events,
    line(text) {
      const line = parseLine<HostLine>(text, "verb");
      if (line?.verb === "linger") lingers.push(line.ms);
      events.line(text);
    },
  });

  /** As src/keeper.ts does it. */
  const startKeeper = (directory: string): FakeProcess => {
    const keeper = machine.process();
    keepers.push(keeper);
    const place = placeAt(files, directory);
    const self = { pid: keeper.pid, startTime: "" };
    const read = (): void => {
      const [spec, task] = [place.spec(), taskOf(place.state(), isDead)];
      if (!spec || task.kind === "leave") return keeper.kill();
      // Others run between any two steps of a process.
      keeper.clock.after(1, () => {
        keep({
          clock: keeper.clock,
          files,
          log: keeper.world.log,
          place,
          spec,
          earlier: task.kind === "adopt" ? task.earlier : undefined,
          self,
          hold: () => (task.kind === "adopt" ? adopt(keeper, task.agent, spec) : start(keeper, place, spec)),
          listen: (path, attach) => lines.of(keeper).listen(path, (socket) => overheard(attach(socket))),
        }).finally(() => {
          left++;
          keeper.kill();
        });
      });
    };
    keeper.clock.after(10, () => {
      if (place.claim(self, isDead)) keeper.clock.after(1, read);
      else keeper.kill();
    });
    return keeper;
  };

  const tail = (host: FakeProcess, path: string, from: number, tell: (bytes: Uint8Array) => void): Tail => {
    let [offset, open] = [from, true];
    const drain = (): void => {
      const text = (files.texts.get(path) ?? "").slice(offset);
      if (!open || text === "") return;
      offset += text.length;
      tell(Buffer.from(text));
    };
    const look = (): void => host.enter(drain);
    const looks = tails.get(path) ?? new Set();
    tails.set(path, looks.add(look));
    machine.plan(world.tailLagMs, look);
    return {
      get offset() {
        return offset;
      },
      drain,
      stop() {
        open = false;
        looks.delete(look);
      },
    };
  };

  let tags = 0;
  const world: KeeperWorld = {
    machine,
    lines,
    agents,
    held,
    keepers,
    get left() {
      return left;
    },
    punched,
    swept,
    lingers,
    lifeOf,
    here: undefined,
    isBlind: false,
    tail,
    failStart: undefined,
    failForks: 0,
    canPunch: true,
    tailLagMs: 0,
    append: (one, text) => appendTo(one.place.out, text),
    startKeeper,
    state(one = held[held.length - 1]) {
      if (!one) throw new Error("There is no agent");
      return JSON.parse(files.texts.get(`${one.place.directory}/state.json`) ?? "null");
    },
    keepersOf(host, generation = takeGeneration(files, host.clock, "/state"), fenced) {
      hosts.push(host);
      const kept = createKeepers({
        clock: host.clock,
        files: filesUnder(generation, files),
        generation: generation.number,
        log: host.world.log,
        directory: "/state",
        connect: lines.of(host).connect,
        startKeeper(directory) {
          if (world.failForks-- > 0) throw new Error("EAGAIN: no process to be had");
          const keeper = startKeeper(directory);
          return { hasEnded: () => keeper.state === "dead" };
        },
        tail: (path, from, tell) => tail(host, path, from, tell),
        tailText: (path) => files.texts.get(path) ?? "",
        lifeOf,
        sweep(tag, strays) {
          swept.push(tag, ...strays.map(({ pid }) => `stray ${pid}`));
          return 0;
        },
        kill(pid) {
          keepers.find((each) => each.pid === pid)?.kill();
          held.find(({ mark }) => mark.pid === -pid)?.agent.exit(null, "SIGKILL");
        },
        async punchHole(path, bytes) {
          punched.push([path, bytes]);
          return world.canPunch;
        },
        self: { pid: host.pid, startTime: "" },
        newTag: () => `tag-${++tags}`,
        find: (command) => `/bin/${command}`,
        lingerMs: () => LINGER_MS,
        shortDirectory: () => "/tmp/short",
        here: world.here,
      });
      if (fenced) kept.onFenced(fenced);
      return kept;
    },
  };
  return world;
}
