// Whose is what a port's hosts leave? The port is a lock of one machine and namespace; the directory may be seen by more.
import { join } from "node:path";
import { originOf } from "../core/whereabouts.ts";
import type { Files, Log } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { Whereabouts } from "../protocol/whereabouts.ts";
import { type KeeperSpec, placeAt } from "./place.ts";

export interface HomesDeps {
  files: Files;
  log: Log;
  /** Of the port. */
  directory: string;
  here: Whereabouts | undefined;
  /** Held as long as we live. */
  hold(path: string): void;
  /** Whether anybody holds it, or may. */
  isHeld(path: string): boolean;
}

export interface Homes {
  /** Somebody elsewhere uses it: what is there is theirs, with the names of their agents. */
  others(): { where: string; agents: string[] } | undefined;
  /** From now on others find us here. */
  enter(): void;
}

/** One file for each whereabouts from which this port was hosted; hosts and keepers hold theirs. */
export const homeFile = (portDirectory: string, { id }: Whereabouts): string =>
  join(portDirectory, "homes", `${id}.json`);

/** What a keeper in this directory holds as long as it lives. */
export function homeOfKeeper(
  directory: string,
  { where }: KeeperSpec,
  here: Whereabouts | undefined,
): { isElsewhere: boolean; file: string | undefined } {
  const file = where && homeFile(join(directory, "..", ".."), where);
  return { isElsewhere: originOf(where, here) !== "here", file };
}

export function createHomes({ files, log, directory, here, hold, isHeld }: HomesDeps): Homes {
  const homes = join(directory, "homes");
  const isolated = <Value>(what: string, look: () => Value): Value | undefined => {
    try {
      return look();
    } catch (thrown) {
      log.warn(`${what} cannot be looked at: ${messageOf(thrown)}`);
      return undefined;
    }
  };
  const read = (path: string): Whereabouts | undefined => JSON.parse(files.readPrivate(path) ?? "null") ?? undefined;
  const wordsFor = ({ boot, host }: Whereabouts): string =>
    boot === here?.boot ? "in another namespace of this machine" : `on ${host}`;
  const theirAgents = (): string[] => {
    const keepers = join(directory, "keepers");
    return files.list(keepers).flatMap((name) => {
      const spec = isolated(`"${name}"`, () => placeAt(files, join(keepers, name)).spec());
      return spec && originOf(spec.where, here) === "elsewhere" ? [spec.agent] : [];
    });
  };
  return {
    others() {
      if (!here) return undefined;
      for (const name of files.list(homes).filter((each) => each.endsWith(".json"))) {
        const path = join(homes, name);
        const where = isolated(`"${path}"`, () => read(path));
        const origin = originOf(where, here);
        // Only a lock that nobody holds is proof: two machines may look like two lives of one.
        if (where && origin !== "here" && isHeld(path)) return { where: wordsFor(where), agents: theirAgents() };
        if (origin === "gone") isolated(`"${path}"`, () => files.remove(path));
      }
      return undefined;
    },
    enter() {
      if (!here) return;
      isolated("Where we run", () => {
        files.directory(homes);
        const own = homeFile(directory, here);
        files.createOnce(own, `${JSON.stringify(here)}\n`);
        hold(own);
      });
    },
  };
}
