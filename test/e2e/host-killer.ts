// Who kills the host again and again? Somebody with dice, who takes whoever listens, however short that one has hosted.
import { createDice } from "../support/dice.ts";
import type { AgentStage } from "./agent-stage.ts";
import { isRunning, kinship } from "./leftovers.ts";
import { until } from "./until.ts";

export interface HostKiller {
  /** Whom, in order. */
  readonly killed: readonly number[];
  /** For the message of whatever fails. */
  readonly seed: number;
  /** One kill of whoever hosts, at a random moment of its life; none when it is over before somebody does. */
  once(isOver?: () => boolean): Promise<number | undefined>;
  /** Goes on until it is told to end. */
  start(): () => Promise<void>;
}

export interface HostKillerOptions {
  /** So long one may host, evenly; from 0 on some die before they have adopted anything. */
  pauseMs: readonly [number, number];
  /** Its whole process group, which must be its own. */
  group?: boolean;
  /** Somebody was killed: whoever is to stand in line for him is started here. */
  after?(pid: number): void | Promise<void>;
}

const seedOf = (): number => Number(process.env["HOLDFAST_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

export function createHostKiller(stage: AgentStage, options: HostKillerOptions): HostKiller {
  const seed = seedOf();
  const dice = createDice(seed);
  const killed: number[] = [];

  const next = (): number | undefined => {
    const pid = stage.listener();
    return pid === undefined || killed.includes(pid) || !isRunning(pid) ? undefined : pid;
  };
  const kill = (pid: number): void => {
    if (!options.group) return void process.kill(pid, "SIGKILL");
    if (kinship(pid).group !== pid) throw new Error(`Host ${pid} is in a group of others`);
    process.kill(-pid, "SIGKILL");
  };
  const once = async (isOver = () => false): Promise<number | undefined> => {
    const pid = await until("a host to be killed", () => (isOver() ? "nobody" : next()));
    if (pid === "nobody") return undefined;
    await Bun.sleep(dice.between(...options.pauseMs));
    // It may have left by itself.
    if (!isRunning(pid)) return undefined;
    kill(pid);
    killed.push(pid);
    await options.after?.(pid);
    return pid;
  };

  return {
    killed,
    seed,
    once,
    start() {
      let over = false;
      const work = (async () => {
        while (!over) await once(() => over);
      })();
      // Whoever waits for it sees why it ended.
      work.catch(() => undefined);
      return async () => {
        over = true;
        await work;
      };
    },
  };
}

/** Runs the body; what fails tells the seed that repeats it. */
export async function tellingSeed<Value>({ seed, killed }: HostKiller, body: () => Promise<Value>): Promise<Value> {
  try {
    return await body();
  } catch (thrown) {
    console.error(`HOLDFAST_SEED=${seed}, after ${killed.length} kills`);
    throw thrown;
  }
}
