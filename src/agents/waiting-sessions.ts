// Which sessions are taken over later? Those that had nothing to do: when there is time, or when somebody needs them.
import type { AgentSession } from "./session.ts";

export interface WaitingSessions {
  has(name: string): boolean;
  /** `adopt` is called with each of them when it is woken. */
  add(names: readonly string[], adopt: (session: AgentSession) => void): void;
  /** So many of them, or all; returns whether there are more. */
  wake(most?: number): boolean;
  /** They are another host's. */
  leave(): void;
}

export function createWaitingSessions(restored: (names: readonly string[]) => AgentSession[]): WaitingSessions {
  const names = new Set<string>();
  let adopt: (session: AgentSession) => void = () => {};
  return {
    has: (name) => names.has(name),
    add(more, adoptOne) {
      for (const name of more) names.add(name);
      adopt = adoptOne;
    },
    wake(most = Number.POSITIVE_INFINITY) {
      const some = [...names].slice(0, most);
      for (const name of some) names.delete(name);
      for (const session of restored(some)) adopt(session);
      return names.size > 0;
    },
    leave: () => names.clear(),
  };
}
