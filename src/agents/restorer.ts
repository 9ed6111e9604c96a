// Which sessions does an agent get back by itself? Those that somebody waits for; the others when they are asked for.
import type { Log } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";
import type { AgentManager } from "./agent-manager.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { Opener } from "./opener.ts";
import type { AgentSession } from "./session.ts";
import { hasNothingToDo } from "./session-needs.ts";

export interface RestorerDeps {
  log: Log;
  manager: AgentManager;
  opener: Opener;
  watch: IdleWatch;
}

export interface Restorer {
  /** Its agent has started: an agent may pay dearly for each session that it has open. */
  connected(client: AcpClient, sessions: readonly AgentSession[]): void;
  /** Somebody watches it now. */
  attached(session: AgentSession): void;
}

export function createRestorer({ log, manager, opener, watch }: RestorerDeps): Restorer {
  const restore = (client: AcpClient, session: AgentSession): void => {
    // One that is open in an agent which has not answered yet is not opened in another.
    if (session.acpSessionId === undefined || session.isPostponed || watch.isStopped(session)) return;
    opener.open(client, session).catch((thrown) => log.warn(`Not restored: ${messageOf(thrown)}`));
  };
  return {
    connected(client, sessions) {
      const awaited = sessions.filter((session) => session.viewers.size > 0 || !hasNothingToDo(session));
      for (const session of awaited) restore(client, session);
    },
    attached(session) {
      const client = manager.current(session.options.agent);
      if (client) restore(client, session);
    },
  };
}
