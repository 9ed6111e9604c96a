// What happens to a standing client when its host goes? The shell around core/takeover: it waits, binds and joins.
import {
  hasWork,
  next,
  TAKEOVER_ROUNDS,
  type Takeover,
  type TakeoverOutcome,
  takeoverAfterLoss,
} from "../core/takeover.ts";
import type { World } from "../platform/world.ts";
import { HostUnreachableError } from "../protocol/fault.ts";

export type HandOffState = "connected" | "detecting-failure" | "taking-over" | "promoted" | "fell-back-to-client";

export type BindOutcome = Extract<TakeoverOutcome, { kind: "bound" | "taken" | "start-failed" | "bind-failed" }>;
export type LineOutcome = Extract<TakeoverOutcome, { kind: "joined" | "closing" | "refused" | "silent" }>;

export interface HandOffDeps {
  world: Pick<World, "clock" | "random">;
  port: number;
  signal: AbortSignal;
  bind(): BindOutcome;
  join(): Promise<LineOutcome>;
  changed(state: HandOffState): void;
}

export type TakeoverEnd = Exclude<Takeover, { state: "waiting" | "binding" | "joining" }> | { state: "aborted" };

type Steps = Pick<HandOffDeps, "bind" | "join" | "signal"> & { clock: World["clock"]; maxRounds: number };

export async function runTakeover(start: Takeover, steps: Steps): Promise<TakeoverEnd> {
  let takeover = start;
  while (hasWork(takeover)) {
    if (steps.signal.aborted) return { state: "aborted" };
    takeover = next(takeover, await perform(takeover, steps), steps.maxRounds);
  }
  return takeover as TakeoverEnd;
}

async function perform(takeover: Takeover, { bind, join, signal, clock }: Steps): Promise<TakeoverOutcome> {
  if (takeover.state === "binding") return bind();
  if (takeover.state === "joining") return await join();
  if (takeover.state === "waiting") await clock.sleep(takeover.ms, signal);
  return { kind: "waited" };
}

export class HandOffManager {
  readonly #deps: HandOffDeps;
  #state: HandOffState = "connected";
  #graceful = false;
  #rank: number | undefined;

  constructor(deps: HandOffDeps) {
    this.#deps = deps;
  }

  get state(): HandOffState {
    return this.#state;
  }

  /** The host says that it is leaving; takeover starts when the socket closes, not before. */
  onHostTransferNotice(): void {
    this.#graceful = true;
    this.#change("detecting-failure");
  }

  onSuccession(rank: number): void {
    this.#rank = rank;
  }

  /** A new connection is up: what was remembered of the last one is void. */
  onConnected(): void {
    this.#graceful = false;
    this.#rank = undefined;
    this.#change("connected");
  }

  async onHostDisconnected(): Promise<"promoted" | "fell-back-to-client" | "aborted"> {
    const { world, port } = this.#deps;
    const start = takeoverAfterLoss({ graceful: this.#graceful, rank: this.#rank, random: world.random });
    this.#graceful = false;
    this.#rank = undefined;
    this.#change("detecting-failure");
    const bind = () => {
      this.#change("taking-over");
      return this.#deps.bind();
    };
    const { join, signal } = this.#deps;
    const end = await runTakeover(start, { bind, join, signal, clock: world.clock, maxRounds: TAKEOVER_ROUNDS });
    switch (end.state) {
      case "hosting":
        this.#change("promoted");
        return "promoted";
      case "joined":
        this.#change("fell-back-to-client");
        return "fell-back-to-client";
      case "aborted":
        return "aborted";
      case "failed":
        throw end.error;
      case "stranded":
        throw new HostUnreachableError("127.0.0.1", port, `tried ${end.rounds} times to bind and to join`);
    }
  }

  #change(state: HandOffState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#deps.changed(state);
  }
}
