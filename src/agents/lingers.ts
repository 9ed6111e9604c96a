// How long may an agent stay without a host? Its keeper is told whenever that is another time.
import type { AgentManager } from "./agent-manager.ts";
import type { IdleWatch } from "./idle-watch.ts";

export interface Lingers {
  tell(agent: string): void;
  /** Another keeper: it knows only what it was started with. */
  tellAnew(agent: string): void;
}

export function createLingers(manager: AgentManager, watch: IdleWatch): Lingers {
  const told = new Map<string, number>();
  const tell = (agent: string): void => {
    const kept = manager.processOf(agent)?.kept;
    if (!kept) return;
    const ms = watch.lingerMs(agent);
    if (told.get(agent) === ms) return;
    told.set(agent, ms);
    kept.linger(ms);
  };
  return {
    tell,
    tellAnew(agent) {
      told.delete(agent);
      tell(agent);
    },
  };
}
