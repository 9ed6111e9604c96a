// Which clients are there, and in which order would they take over?
import { EMPTY_LINE, enter, type Line, type LineChange, leave } from "../core/succession.ts";
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
  tellAll(message: HostMessage): void;
}

/** While the host leaves, those in line leave it too: that says nothing of who hosts next. */
export function createRoster(isClosing: () => boolean = () => false): Roster {
  const byId = new Map<string, Client>();
  let line: Line = EMPTY_LINE;

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
    remote: () => [...byId.values()].filter(({ local }) => !local),
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
    tellAll(message) {
      for (const client of byId.values()) client.send(message);
    },
  };
}
