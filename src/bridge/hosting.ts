// How does this process become the host? Settings, port and host in one step that either holds or leaves no trace.
import { chooseSettings } from "../core/reign.ts";
import type { Cancel, World } from "../platform/world.ts";
import { Fault, isDiskFull, messageOf, stackOf } from "../protocol/fault.ts";
import { DEFAULT_SETTINGS, type Settings } from "../protocol/settings.ts";
import type { BridgeOptions, EndingService } from "./bridge.ts";
import type { BindOutcome } from "./hand-off.ts";
import { type BridgeHost, startHost } from "./host.ts";
import { endWhenIdle, type IdleEnd } from "./idle-end.ts";
import { join } from "./join.ts";

const REHEARSAL_MS = 20;

export interface Hosting {
  readonly host: BridgeHost | undefined;
  /** `successor`: goes on with what the last host of this port left; `failover`: says so in `/health`. */
  attempt(port: number, how: { failover: boolean; successor: boolean }): BindOutcome;
  /** Opens and closes a door of its own, so that the first takeover is not the first time. */
  rehearse(): Promise<void>;
  leave(): Promise<void>;
}

type Options = Pick<BridgeOptions, "state" | "own" | "background" | "logFile" | "listener" | "service">;

export function createHosting(world: World, options: Options, notice: (message: string) => void): Hosting {
  const { state, listener = {}, background = false, logFile = null } = options;
  let host: BridgeHost | undefined;
  let idleEnd: IdleEnd | undefined;
  let service: EndingService | undefined;
  let forgive: Cancel = () => {};

  const choose = (port: number, successor: boolean): { settings: Settings; isNew: boolean } => {
    const inherited = successor && port !== 0 ? state.settings(port) : undefined;
    const { settings, conflicts } = chooseSettings(options.own ?? {}, inherited);
    if (conflicts.length > 0) world.log.warn("The last host's settings overrule our own", { settings: conflicts });
    return { settings, isNew: inherited === undefined };
  };

  /** A full disk must not keep a host from hosting. */
  const keepSettings = (port: number, settings: Settings): void => {
    try {
      state.keepSettings(port, settings);
    } catch (thrown) {
      if (!isDiskFull(thrown)) throw thrown;
      notice("The disk is full: whoever takes over will not know this host's settings; make room");
    }
  };

  const start = (port: number, settings: Settings, failover: boolean) => {
    const touched =
      <Item>(tell: ((item: Item) => void) | undefined) =>
      (item: Item): void => {
        idleEnd?.touch();
        tell?.(item);
      };
    const hostOptions = { port, token: state.token(), settings, background, failover, logFile, service: () => service };
    return startHost(world, hostOptions, {
      session: touched(listener.session),
      clientEntered: touched(listener.clientEntered),
      clientLeft: touched(listener.clientLeft),
      stopAsked: () => listener.stopAsked?.(),
      endsWhenIdle: () => idleEnd?.describe() ?? null,
      async seal(handsOver) {
        // With nobody in line the reign ends here, and the next host starts with its own settings.
        if (!handsOver) state.forgetSettings(host?.port ?? port);
        // Before anybody else can host: a journal has one writer.
        await service?.leave?.(handsOver);
      },
    });
  };

  return {
    get host() {
      return host;
    },
    attempt(port, { failover, successor }) {
      try {
        const { settings, isNew } = choose(port, successor);
        const started = start(port, settings, failover);
        if (started.kind === "taken") return { kind: "taken" };
        if (started.kind === "failed") return { kind: "bind-failed", code: started.code, error: started.error };
        const made = started.host;
        try {
          if (isNew) keepSettings(made.port, settings);
          service = options.service?.(made.port, {
            idleLimits: () => settings.idle,
            companyChanged: () => idleEnd?.touch(),
            fenced() {
              world.log.warn("A newer host has our agents; this one leaves");
              listener.stopAsked?.();
            },
          });
        } catch (thrown) {
          made.forceClose();
          throw thrown;
        }
        host = made;
        // Nothing that one client, session or file does may end the host of all others.
        forgive = world.onBug((thrown) =>
          world.log.warn("A bug in holdfast, please report it", { why: stackOf(thrown) }),
        );
        if (background) {
          idleEnd = endWhenIdle(
            world.clock,
            settings.idle,
            () => ({ clients: made.clients, sessions: made.sessions, agents: service?.company?.() ?? 0 }),
            () => listener.idle?.(),
          );
        }
        if (settings.auth === "none") {
          notice(`This host runs with --auth none: every process on this machine can use port ${made.port}`);
        }
        return { kind: "bound" };
      } catch (thrown) {
        if (thrown instanceof Fault) return { kind: "bind-failed", code: thrown.code, error: thrown };
        notice(`The host did not start: ${messageOf(thrown)}`);
        return { kind: "start-failed", error: thrown };
      }
    },
    async rehearse() {
      if (host) return;
      const token = state.token();
      const hostOptions = { port: 0, token, settings: DEFAULT_SETTINGS, background, failover: false, logFile };
      const nobody = {
        session() {},
        clientEntered() {},
        clientLeft() {},
        stopAsked() {},
        endsWhenIdle: () => null,
        seal() {},
      };
      const started = startHost(world, hostOptions, nobody);
      if (started.kind !== "hosting") return;
      const { port } = started.host;
      const joined = await join(world, { port, token, standing: false }, { message() {}, closed() {} });
      if (joined.kind === "joined") {
        joined.link.send({ type: "list-sessions", requestId: "rehearsal" });
        await world.clock.sleep(REHEARSAL_MS);
        joined.link.end();
      }
      started.host.forceClose();
    },
    async leave() {
      idleEnd?.cancel();
      // Or the clients that leave now would wind it up again, and its timer would keep the process alive.
      idleEnd = undefined;
      await host?.shutdown();
      await service?.end();
      forgive();
    },
  };
}
