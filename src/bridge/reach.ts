// How does a command find a host? It joins one, or starts one in the background and joins that; it never hosts.
import type { StartedProcess, World } from "../platform/world.ts";
import { Fault, HostUnreachableError } from "../protocol/fault.ts";
import type { HostLink, JoinOutcome } from "./join.ts";

/** What can be told of the host that was started; nothing, where it is not a process of its own. */
export type StartHost = () => StartedProcess | undefined | Promise<StartedProcess | undefined>;

export interface ReachDeps {
  world: Pick<World, "clock" | "net">;
  port: number;
  signal: AbortSignal;
  join(): Promise<JoinOutcome>;
  /** Undefined: fail instead of starting one. */
  startHost: StartHost | undefined;
  /** After a loss somebody in line may be taking over: look a little longer before starting a host. */
  afterLoss: boolean;
}

const BACKGROUND_MS = 5_000;
const POLL_MS = 50;
/** So long somebody in line is waited for. */
const PATIENT_MS = 250;
/** One that is about to host is looked for often, or its first milliseconds would be waited away. */
const SOON_MS = 4;
const SOON_FOR_MS = 500;
/** A host that is killed before it could answer is started again. */
const MAX_KILLS = 100;
const SILENT_TRIES = 4;
const SILENT_WAIT_MS = 1_000;

export function describeHolder({ net }: Pick<World, "net">, port: number): string {
  const owner = net.owner(port);
  return owner ? `process ${owner.pid} (${owner.command})` : "another process";
}

/** Faults that trying again cannot mend. */
export function hopeless(world: Pick<World, "net">, port: number, outcome: JoinOutcome): Fault | undefined {
  if (outcome.kind === "foreign") {
    const holder = describeHolder(world, port);
    const message = `Port ${port} is held by ${holder}, and ${outcome.why}; choose another port with --port`;
    return new Fault("PORT_HELD", message, { port });
  }
  if (outcome.kind === "skew") return new Fault("VERSION_SKEW", `Cannot work with this host: ${outcome.why}`, { port });
  if (outcome.kind === "full") return new Fault("HOST_FULL", `The host on port ${port} has no room for more clients`);
  return undefined;
}

export async function reachHost(deps: ReachDeps): Promise<HostLink> {
  const { world, port, signal } = deps;
  const { clock } = world;
  const unreachable = (why: string, nobody = false) => new HostUnreachableError("127.0.0.1", port, why, { nobody });
  let startedAt: number | undefined;
  let started: StartedProcess | undefined;
  let kills = 0;
  let silent = 0;
  const since = clock.elapsed();
  while (!signal.aborted) {
    const outcome = await deps.join();
    if (outcome.kind === "joined") return outcome.link;
    const fault = hopeless(world, port, outcome);
    if (fault) throw fault;
    if (outcome.kind === "silent") {
      const holder = describeHolder(world, port);
      if (++silent >= SILENT_TRIES) throw unreachable(`the port is held by ${holder}, which does not answer`);
      await clock.sleep(SILENT_WAIT_MS, signal);
      continue;
    }
    const patient = deps.afterLoss && clock.elapsed() - since < PATIENT_MS;
    const isDead = started?.wasKilled() === true && kills++ < MAX_KILLS;
    if (outcome.kind === "refused" && (isDead || (startedAt === undefined && !patient))) {
      if (!deps.startHost) throw unreachable("none is running; start one with: holdfast serve", true);
      started = await deps.startHost();
      startedAt = clock.elapsed();
    }
    if (clock.elapsed() - (startedAt ?? since) > BACKGROUND_MS) {
      throw unreachable(
        startedAt === undefined
          ? `the port is held by ${describeHolder(world, port)}, which drops connections; choose another with --port`
          : "the host started in the background did not come up within 5 s; see its log file",
      );
    }
    const isSoon = clock.elapsed() - (startedAt ?? since) < SOON_FOR_MS;
    await clock.sleep(isSoon ? SOON_MS : POLL_MS, signal);
  }
  throw unreachable("interrupted");
}
