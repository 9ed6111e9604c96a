// Where does a keeper keep what it keeps? One directory per agent process; the directory of directories is the registry.
import { join } from "node:path";
import type { HeldCommand, ProcessMark } from "../platform/agent-world.ts";
import type { Files } from "../platform/world.ts";
import { isDiskFull } from "../protocol/fault.ts";
import type { Whereabouts } from "../protocol/whereabouts.ts";
import type { Exit } from "./wire.ts";

/** Written by the host that starts the keeper, never again. */
export interface KeeperSpec extends HeldCommand {
  version: number;
  agent: string;
  run: string;
  socket: string;
  lingerMs: number;
  /** Where agent and keeper run; absent in what the first release wrote. */
  where?: Whereabouts;
}

/** Written by keepers, replaced as one. */
export interface KeeperState {
  version: number;
  keeper: ProcessMark;
  agent: ProcessMark | null;
  holder: ProcessMark | null;
  /** The newest host that attached. */
  generation: number;
  /** It was told to end: nobody adopts it any more. */
  ending: boolean;
  exit: Exit | null;
  /** What the agent started that only its keeper finds; absent in what the first release wrote. */
  strays?: readonly ProcessMark[];
  /** Why the agent never began. */
  failed: string | null;
}

export interface Place {
  directory: string;
  out: string;
  err: string;
  inputLog: string;
  checkpoint: string;
  /** False: somebody gave it up. */
  isThere(): boolean;
  spec(): KeeperSpec | undefined;
  state(): KeeperState | undefined;
  keepSpec(spec: KeeperSpec): void;
  /** Begins with what makes it a keeper's directory: half removed it is nobody's. */
  remove(): void;
  keepState(state: KeeperState): void;
  /** Whose turn it is, whether it has begun or not. */
  claimant(): ProcessMark | undefined;
  /** Whether this process may keep it: one at a time, and never before the one ahead of it is dead. */
  claim(self: ProcessMark, isDead: (mark: ProcessMark) => boolean): boolean;
}

/** The system's limit for the path of a socket, less what it adds itself. */
export const SOCKET_PATH_BYTES = 103;

export function placeAt(files: Files, directory: string): Place {
  const at = (name: string): string => join(directory, name);
  const read = <Kept>(name: string): Kept | undefined => {
    const text = files.readPrivate(at(name));
    try {
      return text === undefined ? undefined : (JSON.parse(text) as Kept);
    } catch {
      return undefined;
    }
  };
  return {
    directory,
    out: at("out"),
    err: at("err"),
    inputLog: at("in.log"),
    checkpoint: at("checkpoint.json"),
    isThere: () => files.stats(at("spec.json")) !== undefined,
    spec: () => read<KeeperSpec>("spec.json"),
    state: () => read<KeeperState>("state.json"),
    keepSpec: (spec) => files.replace(at("spec.json"), JSON.stringify(spec)),
    remove() {
      files.remove(at("spec.json"));
      files.removeDirectory(directory);
    },
    keepState: (state) => files.replace(at("state.json"), JSON.stringify(state)),
    claimant() {
      let last: ProcessMark | undefined;
      for (let turn = 1; ; turn++) {
        const mark = read<ProcessMark>(`turn-${turn}`);
        if (!mark) return last;
        last = mark;
      }
    },
    claim(self, isDead) {
      const own = JSON.stringify(self);
      try {
        for (let turn = 1; ; turn++) {
          const holder = files.createOnce(at(`turn-${turn}`), own);
          if (holder === own) return true;
          if (!isDead(JSON.parse(holder))) return false;
        }
      } catch (thrown) {
        // A full disk must not leave an agent without a keeper.
        if (isDiskFull(thrown)) return true;
        throw thrown;
      }
    },
  };
}
