// In which ways is a bridge opened? As host only, standing in line, or as a command that comes and goes.
import type { OwnSettings } from "../core/reign.ts";
import { START_ROUNDS, takeoverAtStart } from "../core/takeover.ts";
import type { World } from "../platform/world.ts";
import type { ClientMessage } from "../protocol/client.ts";
import { Fault, HostUnreachableError, isDiskFull, messageOf } from "../protocol/fault.ts";
import type { HostMessage, SessionEvent } from "../protocol/host-messages.ts";
import type { HostService, ServiceNeeds } from "./ask-service.ts";
import type { Client } from "./client-link.ts";
import { type BridgeConnection, openConnection } from "./connection.ts";
import {
  type BindOutcome,
  HandOffManager,
  type HandOffState,
  type LineOutcome,
  runTakeover,
  type TakeoverEnd,
} from "./hand-off.ts";
import type { createHosting } from "./hosting.ts";
import { type HostLink, type JoinOutcome, join } from "./join.ts";
import { describeHolder, hopeless, reachHost, type StartHost } from "./reach.ts";
import type { Reacher } from "./reacher.ts";
import type { State } from "./state.ts";

export type Mode =
  /** Hosts, or fails. */
  | "host"
  /** Hosts if the port is free, else waits in line. */
  | "standing"
  /** Never hosts. */
  | "command";

export interface BridgeListener {
  session?(event: SessionEvent): void;
  clientEntered?(client: Client): void;
  clientLeft?(client: Client): void;
  stopAsked?(): void;
  idle?(): void;
  handOff?(state: HandOffState): void;
  /** Something a person should know: a stranger on the port, a host that hangs. */
  notice?(message: string): void;
}

export type EndingService = HostService & { end(): Promise<void> };

export interface BridgeOptions {
  port: number;
  mode: Mode;
  state: State;
  own?: OwnSettings;
  background?: boolean;
  logFile?: string | null;
  /** A command's way to start a background host; undefined with --no-start. */
  startHost?: StartHost | undefined;
  listener?: BridgeListener;
  /** What makes a host of this process. A command has none, and need not load it. */
  hosting?: typeof createHosting;
  /** What else this process offers as host; made when it becomes one. */
  service?: (port: number, needs: ServiceNeeds) => EndingService;
  signal?: AbortSignal;
  /** False: no sessions of plugins are asked for, and none is known until one comes or goes. */
  listsSessions?: boolean;
  /** Whoever stands in line opens a door of its own once: its first takeover is then not the first time. */
  rehearses?: boolean;
}

export const openBridge = (world: World, options: BridgeOptions): Promise<BridgeConnection> =>
  openConnection(world, createReacher(world, options), options.listsSessions);

const REHEARSE_AFTER_MS = 100;

function createReacher(world: World, options: BridgeOptions): Reacher {
  const { clock, log } = world;
  const { mode, port, state, listener = {} } = options;
  const over = new AbortController();
  const signal = options.signal ? AbortSignal.any([over.signal, options.signal]) : over.signal;
  let receive: (message: HostMessage) => void = () => {};
  let lost: (why: { hung: boolean }) => void = () => {};
  let joined: HostLink | undefined;
  let lastJoin: JoinOutcome | undefined;
  /** Why the port was ours, and the host behind it not. */
  let startError: unknown;
  let noticed = "";
  /** Undefined: nobody has told us. */
  let standing: number | undefined;
  let rehearsed = false;

  const notice = (message: string): void => {
    if (message === noticed) return;
    noticed = message;
    if (listener.notice) listener.notice(message);
    else log.warn(message);
  };
  const silence = () => `Port ${port} is held by ${describeHolder(world, port)}, which does not answer`;
  const hosting = options.hosting?.(world, options, notice);
  const bind = (how: { failover: boolean; successor: boolean }): BindOutcome => {
    if (!hosting) throw new Error("This process cannot host");
    const outcome = hosting.attempt(port, how);
    startError = outcome.kind === "start-failed" ? outcome.error : undefined;
    return outcome;
  };

  const closed = (why: { hung: boolean }): void => {
    // Said first: a command that waited for an answer ends with the loss.
    if (why.hung) notice(`The host on port ${port} hangs. ${silence()}`);
    lost(why);
  };

  const tryJoin = async (): Promise<JoinOutcome> => {
    const outcome = await join(
      world,
      { port, token: state.token(), standing: mode === "standing" },
      { message: (message) => receive(message), closed },
    );
    lastJoin = outcome;
    if (outcome.kind === "joined") joined = outcome.link;
    if (outcome.kind === "silent") notice(silence());
    return outcome;
  };

  const joinInLine = async (): Promise<LineOutcome> => {
    const { kind } = await tryJoin();
    if (kind === "joined" || kind === "closing" || kind === "refused" || kind === "silent") return { kind };
    return { kind: kind === "broken" ? "refused" : "silent" };
  };

  const handOff = new HandOffManager({
    world,
    port,
    signal,
    bind: () => bind({ failover: true, successor: true }),
    async join() {
      const outcome = await joinInLine();
      // Told here only: at a start, and to a command, it is the fault that ends it.
      const fault = lastJoin && hopeless(world, port, lastJoin);
      if (fault) notice(fault.message);
      return outcome;
    },
    changed: (changed) => listener.handOff?.(changed),
  });

  const hostLink = (): HostLink => {
    const host = hosting?.host;
    if (!host) throw new Error("There is no host in this process");
    const local = host.attachLocal((message) => receive(message));
    const send = (message: ClientMessage) => {
      local.send(message);
      return undefined;
    };
    return { role: "host", port: host.port, hostPid: world.pid, send, end: local.end };
  };
  const joinedLink = (): HostLink => {
    if (!joined) throw new Error("There is no connection to a host");
    return joined;
  };

  const bindFault = (error: unknown): Fault => {
    if (error instanceof Fault) return error;
    const message = `Cannot listen on 127.0.0.1:${port}: ${messageOf(error)}; choose another port with --port`;
    return new Fault("PORT_HELD", message, { port }, { cause: error });
  };

  const startedNot = (error: unknown): Fault => {
    const why = isDiskFull(error) ? "the disk is full; make room and try again" : messageOf(error);
    const code = isDiskFull(error) ? "DISK_FULL" : "HOST_UNREACHABLE";
    return new Fault(code, `The host for port ${port} did not start: ${why}`, { port }, { cause: error });
  };

  const startFault = (end: TakeoverEnd): Error => {
    if (end.state === "failed") return bindFault(end.error);
    if (startError !== undefined) return startedNot(startError);
    const fault = lastJoin && hopeless(world, port, lastJoin);
    if (fault) return fault;
    if (end.state === "aborted") return new HostUnreachableError("127.0.0.1", port, "interrupted");
    return new Fault("PORT_HELD", `${silence()} as a holdfast host; choose another port with --port`, { port });
  };

  const start = async (): Promise<HostLink> => {
    const successor = mode === "standing" || options.background === true;
    const end = await runTakeover(takeoverAtStart(), {
      bind: () => bind({ failover: false, successor }),
      async join() {
        const outcome = await joinInLine();
        // At a start a stranger on the port is final; in line it may leave again.
        if (lastJoin && hopeless(world, port, lastJoin)) over.abort();
        return outcome;
      },
      signal,
      clock,
      maxRounds: START_ROUNDS,
    });
    if (end.state === "hosting") return hostLink();
    if (end.state !== "joined") throw startFault(end);
    if (mode === "standing") return joinedLink();
    const { hostPid: pid, end: leave } = joinedLink();
    leave();
    const message = `A holdfast host runs on port ${port} already (pid ${pid}); wait in line with --standby, or end it with: holdfast stop`;
    throw new Fault("PORT_HELD", message, { port, pid });
  };

  const standInLine = async (): Promise<HostLink | undefined> => {
    for (;;) {
      try {
        const end = await handOff.onHostDisconnected();
        if (end === "aborted") return undefined;
        return end === "promoted" ? hostLink() : joinedLink();
      } catch (thrown) {
        // Who stands in line goes on waiting after the error is told.
        if (!(thrown instanceof HostUnreachableError)) throw bindFault(thrown);
        notice(thrown.message);
      }
    }
  };

  const reach = (afterLoss: boolean): Promise<HostLink> =>
    reachHost({ world, port, signal, join: tryJoin, startHost: options.startHost, afterLoss });

  return {
    async first(onMessage, onLost) {
      receive = onMessage;
      lost = onLost;
      // Settings that nobody took back: the last host did not leave in good order, and somebody may be taking over now.
      return mode === "command" ? await reach(state.settings(port) !== undefined) : await start();
    },
    async again() {
      return mode === "command" ? await reach(standing !== 0) : await standInLine();
    },
    settled(link) {
      noticed = "";
      if (link.role === "client") handOff.onConnected();
      // Once, when what led here is done.
      if (options.rehearses && link.role === "client" && !rehearsed) {
        rehearsed = true;
        clock.after(REHEARSE_AFTER_MS, () => void (signal.aborted ? undefined : hosting?.rehearse()));
      }
    },
    transferNotice: () => handOff.onHostTransferNotice(),
    succession: (rank) => handOff.onSuccession(rank),
    inLine(count) {
      standing = count;
    },
    async leave() {
      over.abort();
      await hosting?.leave();
    },
  };
}
