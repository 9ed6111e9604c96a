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
const MAX_RESTARTS = 100;
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

/** How long has whoever holds the port had? Time that somebody else took is not counted. */
function createPatience({ clock, net }: ReachDeps["world"], port: number) {
  let held: { since: number; pid?: number | undefined } | undefined;
  let silent = { times: 0, pid: undefined as number | undefined };
  /** Since when nobody holds it. */
  let free = clock.elapsed();
  return {
    nobodyIsThere(): void {
      if (held) free = clock.elapsed();
      held = undefined;
      silent = { times: 0, pid: undefined };
    },
    somebodyIsThere(): void {
      held ??= { since: clock.elapsed() };
    },
    /** How often this one has said nothing. */
    saysNothing(): number {
      const pid = net.owner(port)?.pid;
      silent = { times: silent.pid === pid ? silent.times + 1 : 1, pid };
      held = undefined;
      free = clock.elapsed();
      return silent.times;
    },
    get ms(): number {
      return clock.elapsed() - (held?.since ?? free);
    },
    /** Who it is takes a while to find out: looked at twice, at half time and at the end. */
    isOver(limitMs: number): boolean {
      if (!held || this.ms <= limitMs / 2) return false;
      const isKnown = "pid" in held;
      if (isKnown && this.ms <= limitMs) return false;
      const pid = net.owner(port)?.pid;
      if (isKnown && held.pid === pid) return true;
      held = { since: isKnown ? clock.elapsed() : held.since, pid };
      return false;
    },
  };
}

export async function reachHost(deps: ReachDeps): Promise<HostLink> {
  const { world, port, signal } = deps;
  const { clock } = world;
  const unreachable = (why: string, nobody = false) => new HostUnreachableError("127.0.0.1", port, why, { nobody });
  const patience = createPatience(world, port);
  let startedAt: number | undefined;
  let started: StartedProcess | undefined;
  /** Another one held the port meanwhile: ours has left again. */
  let wasHeld = false;
  let restarts = 0;
  const isGone = (): boolean => started?.wasKilled() === true || (wasHeld && started?.hasEnded() === true);
  while (!signal.aborted) {
    const outcome = await deps.join();
    if (outcome.kind === "joined") return outcome.link;
    const fault = hopeless(world, port, outcome);
    if (fault) throw fault;
    if (outcome.kind === "silent") {
      wasHeld = true;
      const holder = describeHolder(world, port);
      if (patience.saysNothing() >= SILENT_TRIES) {
        throw unreachable(`the port is held by ${holder}, which does not answer`);
      }
      await clock.sleep(SILENT_WAIT_MS, signal);
      continue;
    }
    if (outcome.kind === "refused") {
      patience.nobodyIsThere();
      const isPatient = deps.afterLoss && patience.ms < PATIENT_MS;
      if (startedAt === undefined ? !isPatient : isGone() && restarts++ < MAX_RESTARTS) {
        if (!deps.startHost) throw unreachable("none is running; start one with: holdfast serve", true);
        started = await deps.startHost();
        startedAt = clock.elapsed();
        wasHeld = false;
      }
      if (startedAt !== undefined && Math.min(clock.elapsed() - startedAt, patience.ms) > BACKGROUND_MS) {
        throw unreachable("the host started in the background did not come up within 5 s; see its log file");
      }
    } else {
      wasHeld = true;
      patience.somebodyIsThere();
      if (patience.isOver(BACKGROUND_MS)) {
        const holder = describeHolder(world, port);
        throw unreachable(`the port is held by ${holder}, which drops connections; choose another with --port`);
      }
    }
    const soonMs = Math.min(
      patience.ms,
      startedAt === undefined ? Number.POSITIVE_INFINITY : clock.elapsed() - startedAt,
    );
    await clock.sleep(soonMs < SOON_FOR_MS ? SOON_MS : POLL_MS, signal);
  }
  throw unreachable("interrupted");
}
