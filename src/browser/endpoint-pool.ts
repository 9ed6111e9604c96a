// Who is the browser now, and who stands by? One mechanism: the next is tried when one is slow, and the second stays.
import {
  answered,
  began,
  type Endpoint,
  failed,
  forgiven,
  freshPool,
  HEDGE_MS,
  lostActive,
  lostStandby,
  mayStandBy,
  nextStartIndex,
  type Pool,
  whenFailed,
  whenNeeded,
  whenSlow,
} from "../core/endpoints.ts";
import type { Cancel, Clock } from "../platform/world.ts";
import { EndpointsExhaustedError } from "../protocol/browser-fault.ts";
import { Fault, firstLineOf } from "../protocol/fault.ts";
import type { Link } from "./link.ts";

/** So many times as long one that has answered may take to be ready. */
const PATIENCE = 4;
/** After so long an endpoint that failed as standby may be one again. */
const SHY_MS = 5_000;

export interface PoolOptions {
  clock: Pick<Clock, "after">;
  endpoints: readonly Endpoint[];
  /** Undefined: where it costs nothing. */
  standby: boolean | undefined;
  /** `answers` is told when the other side has spoken; context and page are still to come. */
  connect(endpoint: Endpoint, answers: () => void, signal: AbortSignal): Promise<Link>;
  cycled(failure: { attempt: number; total: number; error: string }): void;
}

export interface EndpointPool {
  readonly nextStartIndex: number;
  /** The next browser: the standby at once, else the next endpoint that answers. */
  start(): Promise<Link>;
  /** Leaves the active one for good. */
  leave(): void;
  /** Resolves when everything that was opened is closed. */
  end(): Promise<void>;
}

export function createEndpointPool(options: PoolOptions): EndpointPool {
  const { clock, endpoints, standby, connect, cycled } = options;
  const total = endpoints.length;
  const links = new Map<number, Link>();
  const closing = new Set<Promise<void>>();
  const errors: string[] = [];
  /** Have answered, and are not ready yet. */
  const answering = new Set<number>();
  let pool: Pool = freshPool(total);
  let waiting: PromiseWithResolvers<Link> | undefined;
  let hedge: Cancel | undefined;
  const over = new AbortController();

  /** They had their time, and may still answer. */
  const slow = new Set<number>();
  const mayStand = (index: number): boolean => {
    const endpoint = endpoints[index];
    return endpoint !== undefined && mayStandBy(endpoint, standby);
  };
  const close = (link: Link): void => {
    links.delete(link.endpoint.index);
    const ended = link.end().finally(() => closing.delete(ended));
    closing.add(ended);
  };
  const arm = (): void => {
    hedge?.();
    let patience = PATIENCE;
    const look = (): void => {
      hedge = undefined;
      if (pool.active === undefined && pool.trying.some((index) => answering.has(index)) && patience-- > 0) {
        hedge = clock.after(HEDGE_MS, look);
        return;
      }
      for (const index of pool.trying) slow.add(index);
      const move = whenSlow(pool, mayStand);
      if (move.kind === "try") attempt(move.index);
      else if (pool.active !== undefined && pool.standby === undefined && pool.shy.length > 0) {
        hedge = clock.after(SHY_MS, () => {
          pool = forgiven(pool);
          look();
        });
      }
    };
    hedge = clock.after(HEDGE_MS, look);
  };

  function attempt(index: number): void {
    const endpoint = endpoints[index];
    if (!endpoint || over.signal.aborted) return;
    pool = began(pool, index);
    arm();
    const trying = connect(endpoint, () => answering.add(index), over.signal).then(
      (link) => onAnswer(index, link),
      (thrown: unknown) => onFailure(index, thrown),
    );
    closing.add(trying);
    void trying.finally(() => closing.delete(trying));
  }

  function onAnswer(index: number, link: Link): void {
    answering.delete(index);
    const result = answered(pool, index);
    pool = result.pool;
    if (over.signal.aborted || result.place === "surplus") return close(link);
    links.set(index, link);
    if (result.place === "active") {
      arm();
      waiting?.resolve(link);
      waiting = undefined;
      return;
    }
    const onLost = () => {
      if (pool.standby !== index) return;
      pool = lostStandby(pool);
      close(link);
      arm();
    };
    link.lost.addEventListener("abort", onLost, { once: true });
    if (link.lost.aborted) onLost();
  }

  function onFailure(index: number, thrown: unknown): void {
    answering.delete(index);
    const result = failed(pool, index);
    pool = result.pool;
    // A machine without any browser has none at the next try either.
    if (thrown instanceof Fault && thrown.code === "USAGE") return waiting?.reject(thrown);
    if (result.spent) {
      const error = firstLineOf(thrown);
      errors.push(error);
      if (!over.signal.aborted) cycled({ attempt: index + 1, total, error });
      const move = whenFailed(pool, slow, mayStand);
      if (move.kind === "try") attempt(move.index);
    } else if (!over.signal.aborted) arm();
    step();
  }

  function step(): void {
    if (!waiting || over.signal.aborted) return;
    const move = whenNeeded(pool);
    if (move.kind === "try") attempt(move.index);
    if (move.kind !== "exhausted") return;
    waiting.reject(new EndpointsExhaustedError(total, errors));
    waiting = undefined;
  }

  return {
    get nextStartIndex() {
      return nextStartIndex(pool, total);
    },
    async start() {
      const ready = pool.active === undefined ? undefined : links.get(pool.active);
      if (ready) {
        arm();
        return ready;
      }
      waiting = Promise.withResolvers<Link>();
      const { promise } = waiting;
      if (pool.trying.length > 0) arm();
      step();
      return await promise;
    },
    leave() {
      const link = pool.active === undefined ? undefined : links.get(pool.active);
      pool = lostActive(pool);
      if (link) close(link);
    },
    async end() {
      over.abort(new Error("The task is over"));
      hedge?.();
      for (const link of [...links.values()]) close(link);
      await Promise.allSettled([...closing]);
    },
  };
}

/** What the library adds is a log of its own calls. */
