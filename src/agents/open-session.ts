// What does an editor need to know of a session, and what may it choose there? Modes and options, as the agent has them.
import { offersOf } from "../core/session-fold.ts";
import type { OpenedSession } from "../protocol/agents.ts";
import type { AcpClient } from "./acp-client.ts";
import type { AgentSession } from "./session.ts";

type Ready = (session: AgentSession) => Promise<AcpClient>;

export function openedSession(session: AgentSession): OpenedSession {
  const { fold, lastSeq, options } = session;
  const permissions = fold.permissions
    .filter(({ outcome }) => outcome === undefined)
    .map(({ permissionId, toolCall, options: choices }) => ({ permissionId, toolCall, options: choices }));
  return { session: options.name, lastSeq, ...offersOf(fold), permissions };
}

/** On record like the agent's own word: all who watch hear of it, and after a restore it is set again. */
function told(session: AgentSession, update: Record<string, unknown>): void {
  session.settings.notice(update);
  session.record("update", { update });
}

export async function setMode(session: AgentSession, ready: Ready, modeId: string): Promise<unknown> {
  const client = await ready(session);
  const answer = await client.setMode(session.acpSessionId ?? "", modeId);
  told(session, { sessionUpdate: "current_mode_update", currentModeId: modeId });
  return answer ?? {};
}

export async function setOption(
  session: AgentSession,
  ready: Ready,
  configId: string,
  value: string | boolean,
): Promise<unknown> {
  const client = await ready(session);
  const answer = (await client.setConfigOption(session.acpSessionId ?? "", configId, value)) ?? {};
  const { configOptions } = answer as { configOptions?: unknown };
  if (Array.isArray(configOptions)) told(session, { sessionUpdate: "config_option_update", configOptions });
  return answer;
}
