// What becomes of requests while hosts die? Each carries its own number, and the plugin keeps a list of those it ran.
import type { BridgeConnection } from "../../bridge/connection.ts";
import type { Clock } from "../../platform/world.ts";
import { Fault, SessionDisconnectedError } from "../../protocol/fault.ts";

export interface Outcome {
  answered: number;
  /** The connection was lost meanwhile: exit code 5, never sent again. */
  unknown: number;
  /** Answered, but not in the plugin's list. */
  lost: number;
  /** More than once in the plugin's list. */
  doubled: number;
}

export interface Traffic {
  /** Answered so far. */
  readonly answered: number;
  /** Resolves at the next answer. */
  next(): Promise<void>;
  stop(): Promise<Outcome>;
}

const SPACING_MS = 2;
const SESSION_MS = 20_000;

const script = (number: number): string => `(globalThis.ran ??= []).push(${number})`;

/** `ran`: what the plugin's list says. */
export function countRequests(
  answered: ReadonlySet<number>,
  unknown: ReadonlySet<number>,
  ran: readonly number[],
): Outcome {
  const once = new Set(ran);
  return {
    answered: answered.size,
    unknown: unknown.size,
    lost: [...answered].filter((number) => !once.has(number)).length,
    doubled: ran.length - once.size,
  };
}

export function startTraffic(clock: Clock, connection: BridgeConnection): Traffic {
  const answered = new Set<number>();
  const unknown = new Set<number>();
  const waiters: (() => void)[] = [];
  let over = false;

  const run = async (): Promise<void> => {
    for (let number = 1; !over; number++) {
      const session = await connection.resolveSession({}, SESSION_MS);
      try {
        const { success, error } = await session.exec(script(number));
        if (!success) throw new Fault("SCRIPT_FAILED", error ?? "The script failed");
        answered.add(number);
        for (const resolve of waiters.splice(0)) resolve();
      } catch (thrown) {
        if (!(thrown instanceof SessionDisconnectedError)) throw thrown;
        unknown.add(number);
      }
      await clock.sleep(SPACING_MS);
    }
  };
  const running = run();
  running.catch(() => undefined);

  return {
    get answered() {
      return answered.size;
    },
    // Fails with the traffic itself, instead of waiting for ever.
    next: () => Promise.race([new Promise<void>((resolve) => waiters.push(resolve)), running]),
    async stop() {
      over = true;
      await running;
      const session = await connection.resolveSession({}, SESSION_MS);
      const { value } = await session.exec("globalThis.ran");
      const ran = Array.isArray(value) ? value.map(Number) : [];
      return countRequests(answered, unknown, ran);
    },
  };
}
