// How does a host come to the keeper of an agent? The one that is there, or one that it starts; never two at once.
import type { AgentExit, Life, ProcessMark } from "../platform/agent-world.ts";
import type { Clock, Log, StartedProcess } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { Place } from "./place.ts";

export interface ReachDeps {
  clock: Clock;
  log: Log;
  place: Place;
  agent: string;
  startKeeper(directory: string): Pick<StartedProcess, "hasEnded">;
  lifeOf(mark: ProcessMark): Life;
  /** At once; a negative one is a group. */
  kill(pid: number): void;
  /** Whether a keeper answered. */
  open(): Promise<boolean>;
  /** Nobody wants it any more. */
  isOver(): boolean;
  ended(how: AgentExit): void;
}

export interface KeeperReach {
  /** Its first keeper, which starts the agent too. */
  start(): void;
  /** Resolves when it is ours, or its agent gone. */
  reach(): Promise<void>;
}

const LIMIT_MS = 10_000;
const TRY_MS = 3;
/** One that ends while it starts would be started without end. */
const START_AGAIN_MS = 250;
export const UNKNOWN: AgentExit = { code: null, signal: null };

export function createKeeperReach(deps: ReachDeps): KeeperReach {
  const { clock, log, place, agent, lifeOf, ended } = deps;
  let keeper: Pick<StartedProcess, "hasEnded"> | undefined;
  let startAt = 0;
  const start = (): void => {
    startAt = clock.elapsed() + START_AGAIN_MS;
    keeper = deps.startKeeper(place.directory);
  };

  /** How its agent ended; undefined while there is hope. */
  const look = (late: boolean): AgentExit | undefined => {
    const state = place.state();
    if (!place.isThere()) return UNKNOWN;
    if (state?.failed) {
      log.warn(`${agent} did not start: ${state.failed}`);
      return state.exit ?? UNKNOWN;
    }
    // One that has begun nothing yet has claimed it, if it lives.
    const mark = state?.keeper ?? place.claimant();
    const keeperLife = mark ? lifeOf(mark) : "dead";
    if (state?.exit && keeperLife === "dead") return state.exit;
    if (keeperLife === "dead" && keeper?.hasEnded() !== false) {
      if (state?.agent ? lifeOf(state.agent) === "dead" : !keeper) return UNKNOWN;
      // It died before it began what we started it for: the next one begins it.
      if (clock.elapsed() >= startAt) start();
    }
    if (!late) return undefined;
    log.warn(`The keeper of ${agent} does not answer, and is ended with its agent`);
    if (mark && keeperLife === "alive") deps.kill(mark.pid);
    // By its mark: long after, the number may be another's.
    if (state?.agent && lifeOf(state.agent) === "alive") deps.kill(-state.agent.pid);
    return UNKNOWN;
  };

  const reach = async (): Promise<void> => {
    const deadline = clock.elapsed() + LIMIT_MS;
    let complaint: string | undefined;
    // The last one was at work: only those that never were make it wait.
    startAt = 0;
    while (!deps.isOver()) {
      // Taken before it is asked: whoever slept through the time gives it one more chance.
      const late = clock.elapsed() > deadline;
      if ((await deps.open()) || deps.isOver()) return;
      try {
        const how = look(late);
        if (how) return ended(how);
      } catch (thrown) {
        // No process or no descriptor to be had: for a moment, most often.
        if (complaint !== messageOf(thrown)) log.warn(`No keeper for ${agent} yet: ${messageOf(thrown)}`);
        complaint = messageOf(thrown);
        if (late) return ended(UNKNOWN);
      }
      await clock.sleep(TRY_MS);
    }
  };

  let reaching: Promise<void> | undefined;
  return {
    start,
    reach() {
      reaching ??= reach().finally(() => {
        reaching = undefined;
      });
      return reaching;
    },
  };
}
