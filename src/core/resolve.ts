// Which session does the caller mean?
import type { InstanceInfo, SessionInfo } from "../protocol/host-messages.ts";
import type { Context } from "../protocol/plugin.ts";

export interface Wanted {
  session?: string | undefined;
  instance?: string | undefined;
  context?: Context | undefined;
}

export type Resolution =
  | { kind: "found"; session: SessionInfo }
  | { kind: "none"; message: string }
  | { kind: "no-context"; message: string }
  | { kind: "several"; message: string; sessions: readonly SessionInfo[] };

export const groupByInstance = (sessions: readonly SessionInfo[]): InstanceInfo[] =>
  [...Map.groupBy(sessions, (session) => session.instanceId)].map(([instanceId, group]) => {
    const [first] = group as [SessionInfo];
    return {
      instanceId,
      placeName: first.placeName,
      placeId: first.placeId,
      gameId: first.gameId,
      contexts: [...new Set(group.map((session) => session.context))],
      origin: first.origin,
    };
  });

const describe = (session: SessionInfo): string =>
  `  ${session.sessionId}  ${session.instanceId}  ${session.context}  ${session.placeName}`;

const several = (what: string, sessions: readonly SessionInfo[]): Resolution => ({
  kind: "several",
  message: `${what}; choose one with --session, or --instance and --context:\n${sessions.map(describe).join("\n")}`,
  sessions,
});

export function resolve(sessions: readonly SessionInfo[], wanted: Wanted): Resolution {
  if (wanted.session !== undefined) {
    const session = sessions.find(({ sessionId }) => sessionId === wanted.session);
    return session
      ? { kind: "found", session }
      : { kind: "none", message: `There is no session "${wanted.session}"; holdfast sessions lists them` };
  }
  const inInstance = sessions.filter(
    ({ instanceId }) => wanted.instance === undefined || instanceId === wanted.instance,
  );
  const instances = new Set(inInstance.map(({ instanceId }) => instanceId));
  if (instances.size === 0) {
    const message =
      wanted.instance === undefined
        ? "No plugin is connected; start one with: holdfast plugin js"
        : `There is no instance "${wanted.instance}"; holdfast sessions lists them`;
    return { kind: "none", message };
  }
  if (instances.size > 1) return several(`${instances.size} instances are connected`, inInstance);
  const contexts = new Set(inInstance.map(({ context }) => context));
  const context = wanted.context ?? (contexts.size === 1 ? [...contexts][0] : "edit");
  const matches = inInstance.filter((session) => session.context === context);
  const [match] = matches;
  if (!match) {
    const message = `Instance "${[...instances][0]}" has no context "${context}", it has: ${[...contexts].join(", ")}`;
    return { kind: "no-context", message };
  }
  // Two windows of one place share instance and context: only the session id tells them apart.
  if (matches.length > 1) return several(`${matches.length} sessions match`, matches);
  return { kind: "found", session: match };
}
