// What does a host do with a client's action, and with what plugins push? Subscriptions are counted here.
import type { Subscriptions } from "../core/subscriptions.ts";
import type { HostEnvelope } from "../protocol/client.ts";
import type { Result } from "../protocol/host-messages.ts";
import type { Frame } from "../rpc/frame.ts";
import type { Client } from "./client-link.ts";
import type { PluginSession } from "./plugin-session.ts";
import { errorResult, type Relay } from "./relay.ts";
import type { SessionTable } from "./session-table.ts";

interface Deps {
  table: SessionTable;
  relay: Relay;
  subscriptions: Subscriptions;
  clients: ReadonlyMap<string, Client>;
  newId(): string;
}

export interface Envelopes {
  handle(client: Client, envelope: HostEnvelope, closing: boolean): void;
  push(session: PluginSession, frame: Frame): void;
  clientLeft(client: Client): void;
}

const eventsOf = (payload: Record<string, unknown>): string[] =>
  Array.isArray(payload["events"]) ? payload["events"].filter((event) => typeof event === "string") : [];

export function createEnvelopes({ table, relay, subscriptions, clients, newId }: Deps): Envelopes {
  const unsubscribe = (session: PluginSession, events: string[], answer: (result: Result) => void): void => {
    const action = { type: "unsubscribe", requestId: newId(), payload: { events } };
    const { sessionId } = session.info;
    relay.forward(
      session,
      { type: "host-envelope", requestId: action.requestId, targetSessionId: sessionId, action },
      answer,
      { unlimited: true },
    );
  };

  return {
    handle(client, envelope, closing) {
      const { requestId, targetSessionId, action } = envelope;
      const answer = (result: Result): void => {
        if (clients.get(client.clientId) === client) client.send({ type: "host-response", requestId, result });
      };
      const session = table.get(targetSessionId);
      if (!session) {
        const why = `There is no session "${targetSessionId}" on this host`;
        return answer(errorResult(targetSessionId, "SESSION_NOT_FOUND", why, action.requestId));
      }
      if (closing) {
        const why = "The host is shutting down";
        return answer(errorResult(targetSessionId, "SESSION_DISCONNECTED", why, action.requestId));
      }
      if (action.type === "subscribe") {
        // Before the plugin knows: its first push may come ahead of its answer.
        const fresh = subscriptions.add(targetSessionId, client.clientId, eventsOf(action.payload));
        return relay.forward(session, envelope, (result) => {
          if (result.type === "error") subscriptions.remove(targetSessionId, client.clientId, fresh);
          answer(result);
        });
      }
      if (action.type === "unsubscribe") {
        const events = eventsOf(action.payload);
        const orphaned = subscriptions.remove(targetSessionId, client.clientId, events);
        const done: Result = {
          type: "unsubscribeResult",
          sessionId: targetSessionId,
          ...(action.requestId === undefined ? {} : { requestId: action.requestId }),
          payload: { events },
        };
        if (orphaned.length === 0) return answer(done);
        return unsubscribe(session, orphaned, (result) => answer(result.type === "error" ? result : done));
      }
      relay.forward(session, envelope, answer);
    },
    push(session, frame) {
      const { sessionId } = session.info;
      for (const clientId of subscriptions.subscribers(sessionId, frame.type)) {
        const client = clients.get(clientId);
        const message = { ...frame, sessionId } as unknown as Result;
        if (client?.ours) client.send({ type: "plugin-push", sessionId, message });
        else client?.send({ type: "host-response", requestId: newId(), result: message });
      }
    },
    clientLeft(client) {
      for (const { sessionId, events } of subscriptions.removeClient(client.clientId)) {
        const session = table.get(sessionId);
        if (session) unsubscribe(session, events, () => {});
      }
    },
  };
}
