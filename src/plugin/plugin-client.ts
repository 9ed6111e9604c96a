// How does a plugin stay connected, whoever hosts? The loop around core/plugin-life.
import { type Backoff, firstSearch, nextLife, type PluginLife, type PluginOutcome } from "../core/plugin-life.ts";
import type { Probed, World } from "../platform/world.ts";
import { Fault } from "../protocol/fault.ts";
import { isHealth } from "../protocol/host-frames.ts";
import type { Context } from "../protocol/plugin.ts";
import { connectPlugin, type PluginLink, type TurnedAway } from "./plugin-socket.ts";

export interface PluginMessage {
  type: string;
  payload: Record<string, unknown>;
}

/** What a plugin is, apart from how it is connected. */
export interface PluginActions {
  readonly capabilities: readonly string[];
  state(): string;
  handle(type: string, payload: Record<string, unknown>): Promise<PluginMessage>;
  /** Subscriptions are gone with the connection. */
  disconnected(): void;
}

export interface PluginIdentity {
  instanceId: string;
  context: Context;
  placeName: string;
  pluginVersion: string;
}

export interface PluginClientOptions {
  port: number;
  /** Undefined: a plugin that believes any host. */
  token: string | undefined;
  identity: PluginIdentity;
  backoff: Backoff;
  actions: PluginActions;
  signal: AbortSignal;
  /** A stranger on the port ends it, unless it was connected before: then he may leave again. */
  refusesStrangers?: boolean;
  changed?(life: PluginLife, sessionId: string): void;
  notice?(message: string): void;
}

export interface PluginClient {
  readonly life: PluginLife;
  readonly sessionId: string;
  /** Dropped while there is no host to hear it. */
  push(message: PluginMessage): void;
  /** Resolves when the signal has ended it; rejects at a stranger who is refused. */
  readonly ended: Promise<void>;
}

export type PluginWorld = Pick<World, "clock" | "net" | "newId" | "secrets" | "log" | "pid">;

const PROBE_MS = 1_000;

const describe = (port: number, away: TurnedAway): string =>
  away.kind === "unproven"
    ? `Port ${port} is held by a process that cannot prove that it knows this user's token; not connecting`
    : `The host on port ${port} turned this plugin away: ${away.why}`;

/** A host of ours says that it is well, or 503 while it leaves. */
function isOtherProgram(health: Probed): boolean {
  if (health.kind !== "answer" || health.status === 503) return false;
  try {
    return health.status !== 200 || !isHealth(JSON.parse(health.body));
  } catch {
    return true;
  }
}

export function startPluginClient(world: PluginWorld, options: PluginClientOptions): PluginClient {
  const { clock, net, log } = world;
  const { port, signal, actions, backoff } = options;
  let life: PluginLife = firstSearch();
  let link: PluginLink | undefined;
  let noticed = "";
  let wasWelcomed = false;

  const stranger = (why: string): void => {
    if (!options.refusesStrangers || wasWelcomed) return;
    const owner = net.owner(port);
    const holder = owner ? `process ${owner.pid} (${owner.command})` : "another process";
    const message = `Port ${port} is held by ${holder}, and ${why}; choose another port with --port`;
    throw new Fault("PORT_HELD", message, { port });
  };

  const notice = (message: string): void => {
    if (message === noticed) return;
    noticed = message;
    if (options.notice) options.notice(message);
    else log.warn(message);
  };

  const connect = async (): Promise<PluginOutcome> => {
    const outcome = await connectPlugin(world, options);
    if (outcome.kind !== "welcomed") {
      if (outcome.kind === "unproven") stranger("it cannot prove that it knows this user's token");
      if (outcome.kind !== "lost") notice(describe(port, outcome));
      return { kind: "turned-away" };
    }
    noticed = "";
    wasWelcomed = true;
    link = outcome.link;
    return { kind: "welcomed" };
  };

  const stay = async (): Promise<PluginOutcome> => {
    const end = link ? await link.lost : { graceful: false };
    link = undefined;
    actions.disconnected();
    return { kind: "lost", graceful: end.graceful };
  };

  const perform = async (now: PluginLife): Promise<PluginOutcome> => {
    switch (now.state) {
      case "reconnecting":
        await clock.sleep(now.ms, signal);
        return { kind: "waited" };
      case "searching": {
        if (now.ms > 0) await clock.sleep(now.ms, signal);
        if (signal.aborted) return { kind: "unhealthy" };
        const health = await net.probe(port, PROBE_MS);
        if (isOtherProgram(health)) stranger("it is no holdfast host");
        return { kind: health.kind === "answer" && health.status === 200 ? "healthy" : "unhealthy" };
      }
      case "connecting":
        return await connect();
      case "connected":
        return await stay();
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const next = nextLife(life, await perform(life), backoff);
      const moved = next.state !== life.state;
      life = next;
      if (moved) options.changed?.(life, link?.sessionId ?? "");
    }
    link?.end();
  };
  const stop = () => link?.end();
  signal.addEventListener("abort", stop, { once: true });

  return {
    get life() {
      return life;
    },
    get sessionId() {
      return link?.sessionId ?? "";
    },
    push: (message) => link?.push(message),
    ended: run(),
  };
}
