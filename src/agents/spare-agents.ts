// Which agent processes does nobody need any more? Those none of whose sessions is attached, working or kept.
import type { Log } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { AgentSession } from "./session.ts";

export interface SpareAgentsDeps {
  log: Log;
  sessions(): readonly AgentSession[];
  isKept(session: AgentSession): boolean;
  isRunning(agent: string): boolean;
  stopAgent(agent: string): Promise<void>;
}

export interface SpareAgents {
  readonly nextDue: number;
  /** The last check counts: whatever was planned before is replaced. */
  checkAt(agent: string, at: number): void;
  tick(now: number): void;
}

export function createSpareAgents({ log, sessions, isKept, isRunning, stopAgent }: SpareAgentsDeps): SpareAgents {
  const due = new Map<string, number>();
  const stopUnlessNeeded = (agent: string): void => {
    const isNeeded = sessions().some((session) => session.options.agent === agent && isKept(session));
    // One that is just starting is somebody's, and is looked at when it has started.
    if (isNeeded || !isRunning(agent)) return;
    log.info("Stopped an agent that nobody needs", { agent });
    stopAgent(agent).catch((thrown) => log.warn(`Not stopped: ${messageOf(thrown)}`, { agent }));
  };
  return {
    get nextDue() {
      return Math.min(...due.values());
    },
    checkAt: (agent, at) => void due.set(agent, at),
    tick(now) {
      for (const [agent, at] of due) {
        if (at > now) continue;
        due.delete(agent);
        stopUnlessNeeded(agent);
      }
    },
  };
}
