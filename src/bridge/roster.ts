// Which clients are there, and in which order would they take over?
import { EMPTY_LINE, enter, type Line, type LineChange, leave } from "../core/succession.ts";
import type { Cancel } from "../platform/world.ts";
import type { HostMessage } from "../protocol/host-messages.ts";
import type { Client } from "./client-link.ts";

export interface Roster {
  readonly byId: ReadonlyMap<string, Client>;
  /** Clients on sockets; the host's own process is not among them. */
  remote(): Client[];
  readonly standing: number;
  rankOf(client: Client): number | null;
  enter(client: Client): void;
  leave(client: Client): void;
  /** For somebody who has said nothing yet; ends when that is called. */
  listen(send: (message: HostMessage) => void): Cancel;
  tellAll(message: HostMessage): void;
  /** All but the host's own process. */
  tellRemote(message: HostMessage): void;
}

/** While the host leaves, those in line leave it too: that says nothing of who hosts next. */
export function createRoster(isClosing: () => boolean = () => false): Roster {
  const byId = new Map<string, Client>();
  const listeners = new Set<(message: HostMessage) => void>();
  let line: Line = EMPTY_LINE;
  const remote = () => [...byId.values()].filter(({ local }) => !local);

  const tellInLine = (client: Client): void => {
    if (client.ours && !client.standing && !client.local && !isClosing())
      client.send({ type: "in-line", standing: line.ranks.size });
  };
  const apply = (change: LineChange): void => {
    const before = line.ranks.size;
    line = change.line;
    for (const { clientId, rank } of change.tell) byId.get(clientId)?.send({ type: "succession", rank });
    // Whoever does not stand in line must know whether to wait for somebody who does.
    if (line.ranks.size !== before) for (const client of byId.values()) tellInLine(client);
  };

  return {
    byId,
    remote,
    get standing() {
      return line.ranks.size;
    },
    rankOf: ({ clientId }) => line.ranks.get(clientId) ?? null,
    enter(client) {
      byId.set(client.clientId, client);
      if (client.standing) apply(enter(line, client.clientId));
      else tellInLine(client);
    },
    leave({ clientId }) {
      byId.delete(clientId);
      apply(leave(line, clientId));
    },
    listen(send) {
      listeners.add(send);
      return () => void listeners.delete(send);
    },
    tellAll(message) {
      for (const client of byId.values()) client.send(message);
      for (const send of listeners) send(message);
    },
    tellRemote(message) {
      for (const client of remote()) client.send(message);
      for (const send of listeners) send(message);
    },
  };
}
