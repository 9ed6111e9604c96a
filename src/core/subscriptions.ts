// Which clients want which pushes of which session? The last one out unsubscribes the plugin.

export interface Subscriptions {
  /** The events that this client did not have before. */
  add(sessionId: string, clientId: string, events: readonly string[]): string[];
  /** The events that nobody wants any more. */
  remove(sessionId: string, clientId: string, events: readonly string[]): string[];
  removeClient(clientId: string): { sessionId: string; events: string[] }[];
  removeSession(sessionId: string): void;
  subscribers(sessionId: string, event: string): readonly string[];
}

export function createSubscriptions(): Subscriptions {
  const sessions = new Map<string, Map<string, Set<string>>>();

  const remove = (sessionId: string, clientId: string, events: readonly string[]): string[] => {
    const byEvent = sessions.get(sessionId);
    if (!byEvent) return [];
    const orphaned = events.filter((event) => {
      const clients = byEvent.get(event);
      if (!clients?.delete(clientId) || clients.size > 0) return false;
      return byEvent.delete(event);
    });
    if (byEvent.size === 0) sessions.delete(sessionId);
    return orphaned;
  };

  return {
    add(sessionId, clientId, events) {
      const byEvent = sessions.get(sessionId) ?? new Map<string, Set<string>>();
      sessions.set(sessionId, byEvent);
      const fresh = events.filter((event) => !byEvent.get(event)?.has(clientId));
      for (const event of fresh) byEvent.set(event, (byEvent.get(event) ?? new Set()).add(clientId));
      return fresh;
    },
    remove,
    removeClient(clientId) {
      return [...sessions]
        .map(([sessionId, byEvent]) => ({ sessionId, events: remove(sessionId, clientId, [...byEvent.keys()]) }))
        .filter(({ events }) => events.length > 0);
    },
    removeSession: (sessionId) => void sessions.delete(sessionId),
    subscribers: (sessionId, event) => [...(sessions.get(sessionId)?.get(event) ?? [])],
  };
}
