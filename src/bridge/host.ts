// What is the one process that holds the port made of? Parts are joined here; each decides for itself.
import { groupByInstance } from "../core/resolve.ts";
import { createSubscriptions } from "../core/subscriptions.ts";
import type { Attach, World } from "../platform/world.ts";
import type { ClientMessage } from "../protocol/client.ts";
import { stackOf } from "../protocol/fault.ts";
import type { HostMessage, SessionEvent } from "../protocol/host-messages.ts";
import type { Settings } from "../protocol/settings.ts";
import { askService, type HostService } from "./ask-service.ts";
import { type Client, createClientLink } from "./client-link.ts";
import { offerCourtesy } from "./courtesy.ts";
import { createDoor } from "./door.ts";
import { createEnvelopes } from "./envelopes.ts";
import { sayGoodbye } from "./goodbye.ts";
import { createPluginLink, type PluginLink } from "./plugin-link.ts";
import { type Peer, startPulse } from "./pulse.ts";
import { createRelay } from "./relay.ts";
import { createReport } from "./report.ts";
import { createRoster } from "./roster.ts";
import { createSessionTable } from "./session-table.ts";

export interface HostOptions {
  port: number;
  token: string;
  settings: Settings;
  background: boolean;
  /** True for a host that took over from another. */
  failover: boolean;
  logFile: string | null;
  /** Asked for when a client needs it: it is made when the port is ours. */
  service?(): HostService | undefined;
}

export interface HostEvents {
  session(event: SessionEvent): void;
  clientEntered(client: Client): void;
  clientLeft(client: Client): void;
  stopAsked(): void;
  endsWhenIdle(): string | null;
  /** Nothing is in flight any more, and the port is still ours. */
  seal(handsOver: boolean): void | Promise<void>;
}

export interface LocalLink {
  send(message: ClientMessage): void;
  end(): void;
}

export interface BridgeHost {
  readonly port: number;
  readonly sessions: number;
  readonly clients: number;
  readonly standing: number;
  /** A client inside this process: same messages, no socket. */
  attachLocal(receive: (message: HostMessage) => void): LocalLink;
  /** Idempotent. */
  shutdown(): Promise<void>;
  /** As a crash would: everything cut, nothing said. */
  forceClose(): void;
}

export type HostStart =
  | { kind: "hosting"; host: BridgeHost }
  | { kind: "taken" }
  | { kind: "failed"; code: string; error: Error };

export type HostWorld = Pick<World, "clock" | "newId" | "secrets" | "net" | "log" | "pid">;

const TELL_MALFORMED_EACH = 100_000;

export function startHost(world: HostWorld, options: HostOptions, events: HostEvents): HostStart {
  const { clock, log, net, newId, pid, secrets } = world;
  const { settings, token } = options;
  const { limits } = settings;
  const plugins = new Map<PluginLink, Peer>();
  const clientPeers = new Set<Peer>();
  const roster = createRoster(() => closing);
  const subscriptions = createSubscriptions();
  const relay = createRelay(world, limits.requestsPerSession);
  let [closing, malformedFrames] = [false, 0];

  const malformed = (): void => {
    if (malformedFrames++ % TELL_MALFORMED_EACH === 0) log.warn("Malformed frame", { count: malformedFrames });
  };

  const table = createSessionTable({
    told(event) {
      roster.tellAll(event);
      events.session(event);
    },
    removed(session, why) {
      relay.abandon(session, why);
      subscriptions.removeSession(session.info.sessionId);
    },
  });
  const report = createReport({
    clock,
    pid,
    options,
    roster,
    sessions: table.infos,
    malformedFrames: () => malformedFrames,
    endsWhenIdle: events.endsWhenIdle,
  });
  const envelopes = createEnvelopes({ table, relay, subscriptions, clients: roster.byId, newId });

  const stop = async (client: Client, requestId: string, agents: boolean): Promise<void> => {
    const left = agents ? await options.service?.()?.endAgents?.() : [];
    client.send({ type: "host-stop-response", requestId, pid, standing: roster.standing, left });
    events.stopAsked();
  };

  const asked = (client: Client, message: ClientMessage): void => {
    const { requestId } = message;
    switch (message.type) {
      case "list-sessions":
        return client.send({ type: "list-sessions-response", requestId, sessions: table.infos() });
      case "list-instances":
        return client.send({ type: "list-instances-response", requestId, instances: groupByInstance(table.infos()) });
      case "host-status":
        return client.send({ type: "host-status-response", requestId, status: report.status(port, courtesy, client) });
      case "host-stop":
        return void stop(client, requestId, message.agents === true);
      case "host-envelope":
        return envelopes.handle(client, message, closing);
      case "agent-request":
        return void askService(closing ? "closing" : options.service?.(), client, requestId, message.request);
      case "agent-ack":
        return options.service?.()?.acknowledged(client.clientId, message.session, message.seq);
    }
  };

  const attachPlugin =
    (mustProve: boolean): Attach =>
    (socket) => {
      const stale = () => {
        const { session } = link;
        if (session && !session.info.stale) table.update(session, { ...session.info, stale: true });
      };
      const peer: Peer = { socket, silentMs: 0, stale };
      const heard = () => {
        peer.silentMs = 0;
      };
      const gone = () => plugins.delete(link);
      const { push } = envelopes;
      const link = createPluginLink(socket, { world, token, mustProve, table, relay, push, malformed, heard, gone });
      plugins.set(link, peer);
      return link;
    };
  const forget = (client: Client): void => {
    roster.leave(client);
    envelopes.clientLeft(client);
    options.service?.()?.left(client.clientId);
  };
  const attachClient =
    (nonce: string | null): Attach =>
    (socket) => {
      const peer: Peer = { socket, silentMs: 0 };
      clientPeers.add(peer);
      const { failover } = options;
      const shared = { world, token, open: settings.auth === "none", failover, listens: roster.listen };
      return createClientLink(socket, {
        ...shared,
        nonce,
        entered(client) {
          roster.enter(client);
          events.clientEntered(client);
        },
        asked,
        malformed,
        heard() {
          peer.silentMs = 0;
        },
        gone(client) {
          clientPeers.delete(peer);
          if (!client) return;
          forget(client);
          events.clientLeft(client);
        },
      });
    };

  const answer = createDoor({
    secrets,
    settings,
    isClosing: () => closing,
    health: () => report.health(port),
    counts: () => ({ clients: clientPeers.size, plugins: plugins.size }),
    attachClient,
    attachPlugin,
  });
  const threw = (thrown: unknown): void => log.warn("A frame could not be handled", { why: stackOf(thrown) });
  const binding = { answer, threw, frameBytes: limits.frameBytes, waitingBytes: limits.waitingBytes };
  const bound = net.bind({ ...binding, address: "127.0.0.1", port: options.port });
  if (bound.kind !== "bound") return bound;
  const { listener } = bound;
  const { port } = listener;
  const courtesy = offerCourtesy(world, { ...binding, port });
  const stopPulse = startPulse(clock, () => [...plugins.values(), ...clientPeers]);

  const cut = (): void => {
    closing = true;
    stopPulse();
    // One by one: the runtime's own stop would say 1001, and that sounds like a goodbye.
    for (const { socket } of [...plugins.values(), ...clientPeers]) socket.cut();
    courtesy.cut();
    listener.cut();
  };
  const leave = async (): Promise<void> => {
    closing = true;
    const clientSockets = () => [...clientPeers].map(({ socket }) => socket);
    const isEmpty = () => clientPeers.size + plugins.size === 0;
    const seal = () => events.seal(roster.standing > 0);
    const parts = { clock, relay, roster, listener, courtesy };
    await sayGoodbye({ ...parts, clientSockets, plugins: () => plugins.keys(), isEmpty, seal });
    cut();
  };
  let leaving: Promise<void> | undefined;

  const attachLocal = (receive: (message: HostMessage) => void): LocalLink => {
    const base = { clientId: newId(), standing: false, ours: true, local: true, pid };
    const client: Client = { ...base, send: receive, close() {} };
    roster.enter(client);
    return {
      send: (message) => asked(client, message),
      end: () => forget(client),
    };
  };

  const host: BridgeHost = {
    port,
    get sessions() {
      return table.size;
    },
    get clients() {
      return clientPeers.size;
    },
    get standing() {
      return roster.standing;
    },
    attachLocal,
    shutdown() {
      leaving ??= leave();
      return leaving;
    },
    forceClose: cut,
  };
  return { kind: "hosting", host };
}
