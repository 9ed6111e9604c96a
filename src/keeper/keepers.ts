// Which agents of this port does a keeper hold? The directory tells; a new host takes over what earlier ones left.
import { join } from "node:path";
import { originOf } from "../core/whereabouts.ts";
import type { AgentProcessEvents, Keepers, LeftAgent, ProcessMark, SpawnAgent } from "../platform/agent-world.ts";
import type { Files } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { Whereabouts } from "../protocol/whereabouts.ts";
import { endUnreached, untilLeft } from "./end-unreached.ts";
import { readInputs } from "./input-log.ts";
import { createKeptAgent, type KeptAgentDeps, type KeptProcess } from "./kept-agent.ts";
import { type KeeperSpec, type Place, placeAt, SOCKET_PATH_BYTES } from "./place.ts";
import { KEEPER_VERSION } from "./wire.ts";

export interface KeepersDeps extends Omit<KeptAgentDeps, "place" | "spec" | "fenced"> {
  /** Of the port. */
  directory: string;
  /** Short, and ours alone, for sockets whose own place has too long a path. */
  shortDirectory(): string;
  newTag(): string;
  /** This host. */
  self: ProcessMark;
  find(command: string, path: string): string | undefined;
  lingerMs(): number;
  here: Whereabouts | undefined;
}

export interface KeptAgents extends Keepers {
  spawn: SpawnAgent;
}

/** The newest host that a keeper of this port has seen. */
export function newestSeen(files: Files, directory: string): number {
  const home = join(directory, "keepers");
  const seen = files.list(home).map((name) => {
    try {
      return Number(placeAt(files, join(home, name)).state()?.generation ?? 0);
    } catch {
      // It is told when it is to be taken over.
      return 0;
    }
  });
  return Math.max(0, ...seen.filter(Number.isSafeInteger));
}

const RUN = /^[A-Za-z0-9-]+$/;
const RUN_LETTERS = 8;
/** Of another boot, or of a home that nobody holds any more: numbers of processes are others' now, and none is looked at. */
const NOBODY_LIVES = {
  lifeOf: () => "dead",
  kill() {},
  sweep: () => 0,
  connect: async () => ({ kind: "refused" }),
} as const satisfies Partial<KeepersDeps>;

export function createKeepers(deps: KeepersDeps): KeptAgents {
  const { files, log, generation } = deps;
  const home = join(deps.directory, "keepers");
  /** By their directories. */
  const ours = new Map<string, KeptProcess>();

  const socketFor = (directory: string, run: string): string => {
    const own = join(directory, "s");
    return Buffer.byteLength(own) <= SOCKET_PATH_BYTES ? own : join(deps.shortDirectory(), run);
  };
  let tellFenced = (): void => {};
  let isFenced = false;
  const fenced = (): void => {
    if (!isFenced) tellFenced();
    isFenced = true;
  };
  const lookedAtBy = (spec: KeeperSpec | undefined): KeepersDeps =>
    originOf(spec?.where, deps.here) === "here" ? deps : { ...deps, ...NOBODY_LIVES };
  const processAt = (place: Place, spec: KeeperSpec): KeptProcess => {
    const process = createKeptAgent({ ...lookedAtBy(spec), place, spec, fenced });
    ours.set(place.directory, process);
    return process;
  };

  const leftAt = (name: string, signal: AbortSignal): LeftAgent[] => {
    const place = placeAt(files, join(home, name));
    const spec = place.spec();
    // Begun and never finished, or half removed: there is no agent, or none any more. A keeper that still starts one
    // has claimed it; where nobody has, nobody can any more.
    const { lifeOf } = lookedAtBy(spec);
    const isDead = (mark: ProcessMark): boolean => lifeOf(mark) === "dead";
    if (!spec || (!place.state() && place.claim(deps.self, isDead))) {
      place.remove();
      return [];
    }
    const process = processAt(place, spec);
    const leave = (): void => process.kept?.release();
    signal.addEventListener("abort", leave, { once: true });
    return [
      {
        agent: spec.agent,
        run: spec.run,
        taken: process.take(),
        get isGone() {
          return process.isGone;
        },
        get isEnding() {
          return place.state()?.ending === true;
        },
        get checkpoint() {
          return files.readPrivate(place.checkpoint);
        },
        inputs: (from) => readInputs(files, place.inputLog, from),
        adopt(offset: number, events: AgentProcessEvents) {
          process.listen(offset, events);
          signal.removeEventListener("abort", leave);
          return process;
        },
        async abandon() {
          leave();
          const left = await endUnreached(lookedAtBy(spec), place);
          if (left !== undefined) log.warn(`${spec.agent} could not be ended: ${left}`);
        },
      },
    ];
  };
  const isolated = <Result>(name: string, work: () => Result[]): Result[] => {
    try {
      return work();
    } catch (thrown) {
      log.warn(`What an earlier host left in "${name}" cannot be taken over: ${messageOf(thrown)}`);
      return [];
    }
  };
  const names = (): string[] => files.list(home).filter((name) => RUN.test(name));

  return {
    generation,
    onFenced(tell) {
      tellFenced = tell;
    },
    left: (signal) => names().flatMap((name) => isolated(name, () => leftAt(name, signal))),
    async endOthers() {
      const ended = names()
        .map((name) => join(home, name))
        .filter((directory) => ours.get(directory)?.isReleased !== false)
        .map((directory) => {
          const place = placeAt(files, directory);
          return endUnreached(isolated(directory, () => [lookedAtBy(place.spec())])[0] ?? deps, place);
        });
      const leavers = [...ours.values()].flatMap(({ leaver }) => leaver ?? []);
      return [...(await Promise.all(ended)), ...(await untilLeft(deps, leavers))].filter((why) => why !== undefined);
    },
    spawn({ agent, run, command, args, env, cwd }, events) {
      const found = deps.find(command, env["PATH"] ?? "");
      if (!found) return { kind: "missing", command };
      for (const path of [home, join(home, run.slice(0, RUN_LETTERS))]) files.directory(path);
      const place = placeAt(files, join(home, run.slice(0, RUN_LETTERS)));
      const spec: KeeperSpec = {
        version: KEEPER_VERSION,
        agent,
        run,
        command: found,
        args,
        env,
        cwd,
        tag: deps.newTag(),
        socket: socketFor(place.directory, run),
        lingerMs: deps.lingerMs(),
        ...(deps.here ? { where: deps.here } : {}),
      };
      files.replace(place.out, "");
      files.replace(place.err, "");
      place.keepSpec(spec);
      const process = processAt(place, spec);
      try {
        process.start();
      } catch (thrown) {
        place.remove();
        throw thrown;
      }
      process.listen(0, events);
      process.take().catch((thrown) => log.warn(`No keeper for ${agent}: ${messageOf(thrown)}`));
      return { kind: "started", process };
    },
  };
}
