// Which agents of this port does a keeper hold? The directory tells; a new host takes over what earlier ones left.
import { join } from "node:path";
import type { AgentProcessEvents, Keepers, LeftAgent, SpawnAgent } from "../platform/agent-world.ts";
import type { Files } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import { readInputs } from "./input-log.ts";
import { createKeptAgent, type KeptAgentDeps, type KeptProcess } from "./kept-agent.ts";
import { type KeeperSpec, type Place, placeAt, SOCKET_PATH_BYTES } from "./place.ts";
import { KEEPER_VERSION } from "./wire.ts";

export interface KeepersDeps extends Omit<KeptAgentDeps, "generation" | "place" | "spec" | "fenced"> {
  /** Of the port. */
  directory: string;
  /** Short, and ours alone, for sockets whose own place has too long a path. */
  shortDirectory(): string;
  newTag(): string;
  find(command: string, path: string): string | undefined;
  lingerMs(): number;
}

export interface KeptAgents extends Keepers {
  spawn: SpawnAgent;
}

/** Counted up by each host; the port is its lock. */
function nextGeneration(files: Files, directory: string): number {
  const path = join(directory, "generation");
  const last = Number(files.readPrivate(path) ?? 0);
  const generation = (Number.isSafeInteger(last) ? last : 0) + 1;
  try {
    files.replace(path, `${generation}\n`);
  } catch {
    // A full disk must not keep a host from hosting; equal generations are told apart by who came last.
  }
  return generation;
}

const RUN = /^[A-Za-z0-9-]+$/;
const RUN_LETTERS = 8;

export function createKeepers(deps: KeepersDeps): KeptAgents {
  const { files, log } = deps;
  const home = join(deps.directory, "keepers");
  const generation = nextGeneration(files, deps.directory);

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
  const processAt = (place: Place, spec: KeeperSpec): KeptProcess =>
    createKeptAgent({ ...deps, generation, place, spec, fenced });

  const take = async (name: string): Promise<LeftAgent[]> => {
    const place = placeAt(files, join(home, name));
    const spec = place.spec();
    const state = place.state();
    // Begun and never finished: whoever made it died before there was an agent.
    if (!spec || !state) {
      files.removeDirectory(place.directory);
      return [];
    }
    const process = processAt(place, spec);
    await process.take();
    return [
      {
        agent: spec.agent,
        run: spec.run,
        get isGone() {
          return process.isGone;
        },
        isEnding: place.state()?.ending === true,
        checkpoint: files.readPrivate(place.checkpoint),
        inputs: (from) => readInputs(files, place.inputLog, from),
        adopt(offset: number, events: AgentProcessEvents) {
          process.listen(offset, events);
          return process;
        },
      },
    ];
  };

  return {
    generation,
    onFenced(tell) {
      tellFenced = tell;
    },
    async left() {
      const taken = await Promise.all(
        files
          .list(home)
          .filter((name) => RUN.test(name))
          .map((name) =>
            take(name).catch((thrown) => {
              log.warn(`What an earlier host left in "${name}" cannot be taken over: ${messageOf(thrown)}`);
              return [];
            }),
          ),
      );
      return taken.flat();
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
      };
      files.replace(place.out, "");
      files.replace(place.err, "");
      place.keepSpec(spec);
      const process = processAt(place, spec);
      try {
        process.start();
      } catch (thrown) {
        files.removeDirectory(place.directory);
        throw thrown;
      }
      process.listen(0, events);
      process.take().catch((thrown) => log.warn(`No keeper for ${agent}: ${messageOf(thrown)}`));
      return { kind: "started", process };
    },
  };
}
