// How does a plugin find its way back? Crash: wait, then search. Graceful end: search at once.

export type PluginLife =
  | { state: "reconnecting"; attempt: number; ms: number }
  | { state: "searching"; attempt: number; poll: number; ms: number }
  | { state: "connecting"; attempt: number }
  | { state: "connected" };

export type PluginOutcome =
  | { kind: "waited" }
  | { kind: "healthy" }
  | { kind: "unhealthy" }
  | { kind: "welcomed" }
  /** The connection could not be made, or the host could not prove itself. */
  | { kind: "turned-away" }
  | { kind: "lost"; graceful: boolean };

export interface Backoff {
  firstMs: number;
  capMs: number;
}

export const FOREIGN_BACKOFF: Backoff = { firstMs: 1_000, capMs: 30_000 };
export const OUR_BACKOFF: Backoff = { firstMs: 50, capMs: 2_000 };

/** Moments from the beginning of the search. */
const SEARCH_AT_MS = [0, 50, 100, 200, 400] as const;
const SEARCH_ON_MS = 2_000;

const searchMs = (poll: number): number => {
  const at = SEARCH_AT_MS[poll];
  return at === undefined ? SEARCH_ON_MS : at - (SEARCH_AT_MS[poll - 1] ?? 0);
};

export const backoffMs = (attempt: number, backoff: Backoff): number =>
  Math.min(backoff.firstMs * 2 ** attempt, backoff.capMs);

const search = (attempt: number, poll: number): PluginLife => ({
  state: "searching",
  attempt,
  poll,
  ms: searchMs(poll),
});

const retry = (attempt: number, backoff: Backoff): PluginLife => ({
  state: "reconnecting",
  attempt,
  ms: backoffMs(attempt, backoff),
});

export const firstSearch = (): PluginLife => search(0, 0);

export function nextLife(life: PluginLife, outcome: PluginOutcome, backoff: Backoff): PluginLife {
  if (life.state === "reconnecting" && outcome.kind === "waited") return search(life.attempt, 0);
  if (life.state === "searching" && outcome.kind === "healthy") return { state: "connecting", attempt: life.attempt };
  if (life.state === "searching" && outcome.kind === "unhealthy") return search(life.attempt, life.poll + 1);
  if (life.state === "connecting" && outcome.kind === "welcomed") return { state: "connected" };
  if (life.state === "connecting" && outcome.kind === "turned-away") return retry(life.attempt + 1, backoff);
  if (life.state === "connecting" && outcome.kind === "lost") {
    return outcome.graceful ? search(life.attempt, 0) : retry(life.attempt + 1, backoff);
  }
  if (life.state === "connected" && outcome.kind === "lost") return outcome.graceful ? search(0, 0) : retry(0, backoff);
  throw new Error(`A plugin cannot go from "${life.state}" by "${outcome.kind}"`);
}
