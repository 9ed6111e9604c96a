// Which browser is next? One list of endpoints: who is tried, who is active, who stands by, who is still unused.
import { Fault } from "../protocol/fault.ts";

export type Endpoint =
  | { kind: "cdp"; index: number; url: string }
  /** A browser of our own; the list holds one entry per launch. */
  | { kind: "local"; index: number };

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);
export const HEDGE_MS = 300;
/** After the first launch a browser of our own is started again so often. */
const LOCAL_RELAUNCHES = 3;

export function parseEndpoints(urls: readonly string[]): Endpoint[] {
  return urls.map((url, index) => {
    const wrong = (why: string): never => {
      // The text itself may hold a token.
      throw new Fault(
        "USAGE",
        `CDP endpoint ${index + 1} ${why}; give http://, https://, ws:// or wss:// with a host`,
        {
          endpoint: index + 1,
        },
      );
    };
    if (!URL.canParse(url)) return wrong("is no URL");
    const { protocol, hostname } = new URL(url);
    if (!SCHEMES.has(protocol)) return wrong(`has the scheme "${protocol.replace(/:$/, "")}"`);
    if (hostname === "") return wrong("has no host");
    return { kind: "cdp", index, url };
  });
}

export const localEndpoints = (): Endpoint[] =>
  Array.from({ length: LOCAL_RELAUNCHES + 1 }, (_, index) => ({ kind: "local", index }));

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);

/** May it be connected to although another one may do? Others may bill per connection. */
export function mayStandBy(endpoint: Endpoint, standby: boolean | undefined): boolean {
  if (standby !== undefined) return standby;
  if (endpoint.kind === "local") return false;
  const { protocol, hostname } = new URL(endpoint.url);
  return protocol === "http:" || isLoopback(hostname);
}

/** Indices into the list of endpoints. `spent` ones failed when needed, or were lost in use: they are never tried again. */
export interface Pool {
  unused: readonly number[];
  trying: readonly number[];
  active: number | undefined;
  standby: number | undefined;
  /** Failed while nobody needed them: not tried as standby for a while, but when needed. */
  shy: readonly number[];
}

export const freshPool = (total: number): Pool => ({
  unused: Array.from({ length: total }, (_, index) => index),
  trying: [],
  active: undefined,
  standby: undefined,
  shy: [],
});

const without = (list: readonly number[], index: number): number[] => list.filter((each) => each !== index);
const sorted = (list: readonly number[]): number[] => [...list].sort((left, right) => left - right);

export type Move =
  | { kind: "try"; index: number }
  | { kind: "wait" }
  /** Nobody is left to wait for. */
  | { kind: "exhausted" };

/** What to do at once when a browser is needed and nobody has answered. */
export function whenNeeded({ unused, trying }: Pool): Move {
  const [index] = unused;
  if (trying.length > 0) return { kind: "wait" };
  return index === undefined ? { kind: "exhausted" } : { kind: "try", index };
}

/** Whom to start besides, when 300 ms have passed: instead of the slow one, or as standby. */
export function whenSlow(pool: Pool, mayStand: (index: number) => boolean): Move {
  if (pool.standby !== undefined || (pool.active !== undefined && pool.trying.length > 0)) return { kind: "wait" };
  const free = pool.active === undefined ? pool.unused : pool.unused.filter((index) => !pool.shy.includes(index));
  const [index] = free;
  return index !== undefined && mayStand(index) ? { kind: "try", index } : { kind: "wait" };
}

/** Whoever was started besides the slow ones has failed: the next takes its place, without waiting once more. */
export const whenFailed = (pool: Pool, slow: ReadonlySet<number>, mayStand: (index: number) => boolean): Move =>
  pool.active === undefined && pool.trying.length > 0 && pool.trying.every((index) => slow.has(index))
    ? whenSlow(pool, mayStand)
    : { kind: "wait" };

export const began = (pool: Pool, index: number): Pool => ({
  ...pool,
  unused: without(pool.unused, index),
  trying: [...pool.trying, index],
});

export type Place = "active" | "standby" | "surplus";

export function answered(pool: Pool, index: number): { pool: Pool; place: Place } {
  const trying = without(pool.trying, index);
  if (pool.active === undefined) return { pool: { ...pool, trying, active: index }, place: "active" };
  if (pool.standby === undefined) return { pool: { ...pool, trying, standby: index }, place: "standby" };
  return { pool: { ...pool, trying, unused: [index, ...pool.unused] }, place: "surplus" };
}

/** `spent`: it was needed, so it has had its turn. */
export function failed(pool: Pool, index: number): { pool: Pool; spent: boolean } {
  const trying = without(pool.trying, index);
  if (pool.active === undefined) return { pool: { ...pool, trying }, spent: true };
  const back = { ...pool, trying, unused: sorted([index, ...pool.unused]), shy: [...without(pool.shy, index), index] };
  return { pool: back, spent: false };
}

/** The active one is gone; the standby takes its place. */
export const lostActive = (pool: Pool): Pool => ({ ...pool, active: pool.standby, standby: undefined });

/** Nobody has used it: it may be there again when it is needed, and others are tried as standby first. */
export const lostStandby = (pool: Pool): Pool => {
  const { standby } = pool;
  if (standby === undefined) return pool;
  const shy = [...without(pool.shy, standby), standby];
  return { ...pool, standby: undefined, unused: sorted([standby, ...pool.unused]), shy };
};

/** Whoever failed while nobody needed it may be there by now. */
export const forgiven = (pool: Pool): Pool => ({ ...pool, shy: [] });

export const nextStartIndex = (pool: Pool, total: number): number => pool.unused[0] ?? total;
