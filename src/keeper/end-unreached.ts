// How is an agent ended that no host could take over? By what its directory says of it, and without its keeper.
import type { Life, ProcessMark } from "../platform/agent-world.ts";
import type { Clock, Files } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { Place } from "./place.ts";

export interface EndUnreachedDeps {
  clock: Clock;
  files: Files;
  lifeOf(mark: ProcessMark): Life;
  /** At once; a negative one is a group. */
  kill(pid: number): void;
  sweep(tag: string, strays: readonly ProcessMark[]): number;
}

const GONE_MS = 2_000;
const LOOK_MS = 10;

/** Undefined: nothing of it is left. Else what is left, and why. */
export async function endUnreached(deps: EndUnreachedDeps, place: Place): Promise<string | undefined> {
  const { clock, files, lifeOf, kill, sweep } = deps;
  try {
    const [spec, state] = [place.spec(), place.state()];
    // Its keeper first: it would start what we end.
    const { keeper, agent, holder, strays = [] } = state ?? {};
    const life = (mark: ProcessMark | null | undefined): Life => (mark ? lifeOf(mark) : "dead");
    // By its mark: long after, the number may be another's.
    if (keeper && life(keeper) === "alive") kill(keeper.pid);
    for (const mark of [agent, holder]) if (mark && life(mark) === "alive") kill(-mark.pid);
    const deadline = clock.elapsed() + GONE_MS;
    const goesOn = (): boolean =>
      [keeper, agent, holder].some((mark) => life(mark) !== "dead") ||
      (spec !== undefined && sweep(spec.tag, strays) > 0);
    while (goesOn()) {
      if (clock.elapsed() > deadline) return `${place.directory}: its processes do not end`;
      await clock.sleep(LOOK_MS);
    }
    place.remove();
    if (spec) files.remove(spec.socket);
    return undefined;
  } catch (thrown) {
    return `${place.directory}: ${messageOf(thrown)}`;
  }
}

/** Keepers whose agents are gone leave by themselves; one that is stopped cannot. */
export async function untilLeft(
  { clock, lifeOf, kill }: EndUnreachedDeps,
  keepers: readonly ProcessMark[],
): Promise<(string | undefined)[]> {
  const until = async (deadline: number): Promise<ProcessMark[]> => {
    for (;;) {
      const there = keepers.filter((mark) => lifeOf(mark) === "alive");
      if (there.length === 0 || clock.elapsed() > deadline) return there;
      await clock.sleep(LOOK_MS);
    }
  };
  for (const { pid } of await until(clock.elapsed() + GONE_MS)) kill(pid);
  return (await until(clock.elapsed() + GONE_MS)).map(({ pid }) => `keeper ${pid}: it does not end`);
}
