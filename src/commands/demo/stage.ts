// Who plays in the demo? Real processes of this same binary, with a port and a state directory of their own.
import type { BridgeConnection } from "../../bridge/connection.ts";
import type { Child } from "../../platform/world.ts";
import { Fault } from "../../protocol/fault.ts";
import type { Context } from "../context.ts";

export interface Actor {
  name: string;
  child: Child;
  /** The next event of this type that was not taken yet; given up with the signal. */
  event(type: string, signal?: AbortSignal): Promise<Record<string, unknown>>;
}

/** Whoever says this first. */
export async function firstToSay(actors: readonly Actor[], type: string): Promise<Actor> {
  const over = new AbortController();
  const heard = actors.map((actor) => actor.event(type, over.signal).then(() => actor));
  try {
    return await Promise.race(heard);
  } finally {
    over.abort();
  }
}

export interface Stage {
  stateDirectory: string;
  /** Of everything that plays here. */
  env: Readonly<Record<string, string>>;
  start(name: string, words: readonly string[]): Actor;
  /** From now on there may be agents, which outlive their host. */
  hostedOn(port: number): void;
  /** What asks the host, until the stage is cleared. */
  asks(connection: BridgeConnection): void;
  /** Ends agents, actors and the play itself, in that order; nobody is started any more. */
  clear(play: Promise<unknown>): Promise<void>;
}

const EVENT_MS = 20_000;
const LEAVING_MS = 2_000;
/** A host may be about to go just when it is told to end its agents. */
const STOP_TIMES = 3;

interface Waiting {
  type: string;
  resolve(data: Record<string, unknown>): void;
}

function parse(line: string): { type: string; data: Record<string, unknown> } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function setStage(context: Context): Stage {
  const { clock } = context.world;
  const directory = context.temporaryDirectory();
  const actors: Actor[] = [];
  const connections: BridgeConnection[] = [];
  let port: number | undefined;
  let isOver = false;
  const own = { XDG_STATE_HOME: directory, XDG_CONFIG_HOME: directory };
  const env = {
    ...own,
    HOLDFAST_PORT: undefined,
    // Keepers outlive a demo that is killed, but not for long.
    MAX_IDLE_MS: "60000",
    // Whatever ends the demo, even kill -9, ends its actors too.
    BUN_FEATURE_FLAG_NO_ORPHANS: "1",
  };

  const endAgents = async (): Promise<void> => {
    for (let times = 0; port !== undefined && times < STOP_TIMES; times++) {
      const words = ["stop", "--agents", "--port", String(port)];
      if ((await context.startSelf(words, { env, line() {} }).exited) === 0) return;
    }
  };
  const endActors = async (): Promise<void> => {
    for (const { child } of actors) child.kill("SIGTERM");
    const over = new AbortController();
    const all = Promise.all(actors.map(({ child }) => child.exited));
    await Promise.race([all, clock.sleep(LEAVING_MS, over.signal)]);
    over.abort();
    for (const { child } of actors) child.kill("SIGKILL");
    await all;
  };

  const start = (name: string, words: readonly string[]): Actor => {
    if (isOver) throw new Fault("REFUSED", "The demo is over");
    const told: { type: string; data: Record<string, unknown> }[] = [];
    const waiting: Waiting[] = [];
    const errors: string[] = [];
    const line = (text: string): void => {
      const event = parse(text);
      if (!event) return;
      const index = waiting.findIndex(({ type }) => type === event.type);
      const [waiter] = index < 0 ? [] : waiting.splice(index, 1);
      if (waiter) waiter.resolve(event.data);
      else told.push(event);
    };
    const child = context.startSelf([...words, "--json"], { env, line, errorLine: (text) => void errors.push(text) });
    const failed = (what: string) =>
      new Fault("REFUSED", `${name} ${what}${errors.map((text) => `\n  ${text}`).join("")}`);
    const actor: Actor = {
      name,
      child,
      event(type, signal) {
        const index = told.findIndex((event) => event.type === type);
        const [event] = index < 0 ? [] : told.splice(index, 1);
        if (event) return Promise.resolve(event.data);
        return new Promise((resolve, reject) => {
          const cancel = clock.after(EVENT_MS, () => reject(failed(`did not say "${type}"`)));
          const waiter: Waiting = {
            type,
            resolve(data) {
              cancel();
              resolve(data);
            },
          };
          waiting.push(waiter);
          // Nobody waits any more: what is said later is for others.
          signal?.addEventListener("abort", () => {
            cancel();
            const at = waiting.indexOf(waiter);
            if (at >= 0) waiting.splice(at, 1);
          });
          void child.exited.then((code) => {
            cancel();
            reject(failed(`ended with code ${code} before it said "${type}"`));
          });
        });
      },
    };
    actors.push(actor);
    return actor;
  };

  return {
    stateDirectory: `${directory}/holdfast`,
    env: own,
    start,
    hostedOn(taken) {
      port = taken;
    },
    asks: (connection) => void connections.push(connection),
    async clear(play) {
      isOver = true;
      // Or what was asked would be asked again, of the next host.
      await Promise.all(connections.map((connection) => connection.disconnect()));
      await endAgents();
      await endActors();
      // A host that was killed by the same Ctrl-C may have left some behind the first look.
      await endAgents();
      // Its browsers are ended by whoever started them.
      const over = new AbortController();
      await Promise.race([play.catch(() => undefined), clock.sleep(EVENT_MS, over.signal)]);
      over.abort();
    },
  };
}
