// What does a client do when its host is gone, or a process when it starts? The state is itself the instruction.

/** A round is bind-then-join; in the first round it is tried again up the quick ladder. */
export interface Step {
  round: number;
  rung: number;
}

export type Takeover =
  | ({ state: "waiting"; ms: number } & Step)
  | ({ state: "binding" } & Step)
  | ({ state: "joining" } & Step)
  | { state: "hosting" }
  | { state: "joined" }
  | { state: "stranded"; rounds: number }
  | { state: "failed"; code: string; error: Error };

export type TakeoverOutcome =
  | { kind: "waited" }
  | { kind: "bound" }
  | { kind: "taken" }
  /** The port was ours, and the host behind it did not start: the port is free again. */
  | { kind: "start-failed"; error?: unknown }
  | { kind: "bind-failed"; code: string; error: Error }
  | { kind: "joined" }
  /** 503: the old host is on its way out. */
  | { kind: "closing" }
  | { kind: "refused" }
  /** Somebody holds the port and did not answer, or is none of ours. */
  | { kind: "silent" };

export const MAX_JITTER_MS = 500;
const RANK_STEP_MS = 25;
/** The kernel can hold the port for some ms after the sockets closed (measured). */
export const QUICK_LADDER_MS = [2, 4, 8, 16, 32, 64, 128] as const;
export const ROUND_MS = 1_000;
export const TAKEOVER_ROUNDS = 10;
/** At a start: the quick ladder, then three tries a second apart. */
export const START_ROUNDS = 4;

/** The only randomness in the path, and it comes in as an argument. */
export const computeTakeoverJitterMs = (options: { graceful: boolean; random: () => number }): number =>
  options.graceful ? 0 : options.random() * MAX_JITTER_MS;

export interface Loss {
  graceful: boolean;
  rank: number | undefined;
  random: () => number;
}

export function takeoverAfterLoss({ graceful, rank, random }: Loss): Takeover {
  const ms =
    graceful || rank === undefined
      ? computeTakeoverJitterMs({ graceful, random })
      : Math.min(rank * RANK_STEP_MS, MAX_JITTER_MS);
  return ms > 0 ? { state: "waiting", round: 0, rung: 0, ms } : { state: "binding", round: 0, rung: 0 };
}

export const takeoverAtStart = (): Takeover => ({ state: "binding", round: 0, rung: 0 });

export const hasWork = (takeover: Takeover): takeover is Extract<Takeover, Step> =>
  takeover.state === "waiting" || takeover.state === "binding" || takeover.state === "joining";

const impossible = (takeover: Takeover, outcome: TakeoverOutcome): never => {
  throw new Error(`Takeover cannot go from "${takeover.state}" by "${outcome.kind}"`);
};

function nextRound({ round }: Step, maxRounds: number): Takeover {
  const rounds = round + 1;
  if (rounds >= maxRounds) return { state: "stranded", rounds };
  return { state: "waiting", round: rounds, rung: 0, ms: ROUND_MS };
}

function nextRung(step: Step, maxRounds: number): Takeover {
  const ms = QUICK_LADDER_MS[step.rung];
  if (ms === undefined) return nextRound(step, maxRounds);
  return { state: "waiting", round: step.round, rung: step.rung + 1, ms };
}

export function next(takeover: Takeover, outcome: TakeoverOutcome, maxRounds: number): Takeover {
  switch (takeover.state) {
    case "waiting":
      if (outcome.kind !== "waited") return impossible(takeover, outcome);
      return { state: "binding", round: takeover.round, rung: takeover.rung };
    case "binding":
      if (outcome.kind === "bound") return { state: "hosting" };
      if (outcome.kind === "taken") return { state: "joining", round: takeover.round, rung: takeover.rung };
      if (outcome.kind === "start-failed") return nextRound(takeover, maxRounds);
      if (outcome.kind === "bind-failed") return { state: "failed", code: outcome.code, error: outcome.error };
      return impossible(takeover, outcome);
    case "joining":
      if (outcome.kind === "joined") return { state: "joined" };
      // A closing host is gone in a moment, whichever round this is.
      if (outcome.kind === "closing") return nextRung(takeover, maxRounds);
      if (outcome.kind === "refused") {
        return takeover.round === 0 ? nextRung(takeover, maxRounds) : nextRound(takeover, maxRounds);
      }
      if (outcome.kind === "silent") return nextRound(takeover, maxRounds);
      return impossible(takeover, outcome);
    default:
      return impossible(takeover, outcome);
  }
}
