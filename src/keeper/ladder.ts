// How is an agent process ended? One ladder for all: ask, insist, force, and then look for what it left behind.
import type { AgentProcess } from "../platform/agent-world.ts";
import type { Clock } from "../platform/world.ts";

const INPUT_CLOSED_MS = 5_000;
const TERMINATED_MS = 2_000;
const KILLED_MS = 2_000;
/** What sits in the system itself cannot be killed, and must not hold up all else. */
const SWEPT_MS = 10_000;
const SWEEP_AGAIN_MS = 10;

export type Endable = Pick<AgentProcess, "closeInput" | "signalGroup" | "sweep"> & { exited: Promise<unknown> };

const isSwept = (process: Pick<Endable, "sweep">): boolean => {
  try {
    return process.sweep() === 0;
  } catch {
    // It cannot look just now, as where no descriptor is left.
    return false;
  }
};

export async function endProcess(clock: Clock, process: Endable): Promise<void> {
  let exited = false;
  const over = new AbortController();
  const exit = process.exited.then(() => {
    exited = true;
    over.abort();
  });
  const wait = async (ms: number): Promise<boolean> => {
    await Promise.race([exit, clock.sleep(ms, over.signal)]);
    return exited;
  };
  process.closeInput();
  if (!(await wait(INPUT_CLOSED_MS))) {
    process.signalGroup("SIGTERM");
    if (!(await wait(TERMINATED_MS))) {
      process.signalGroup("SIGKILL");
      await wait(KILLED_MS);
    }
  }
  // Its helpers may outlive it in its group, and its shell tools in sessions of their own.
  process.signalGroup("SIGKILL");
  await sweepAll(clock, process);
}

/** Until nothing is found any more. */
export async function sweepAll(clock: Clock, process: Pick<Endable, "sweep">): Promise<void> {
  const deadline = clock.elapsed() + SWEPT_MS;
  while (clock.elapsed() < deadline && !isSwept(process)) await clock.sleep(SWEEP_AGAIN_MS);
}
