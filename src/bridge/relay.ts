// Whose answer is this? Each relayed request has a host-unique id; the answer goes back under the caller's own.

import type { Cancel, World } from "../platform/world.ts";
import { payloadSchemaOf } from "../protocol/action-payloads.ts";
import { actionFor, ONE_WAY } from "../protocol/actions.ts";
import type { HostEnvelope } from "../protocol/client.ts";
import type { FaultCode } from "../protocol/fault.ts";
import type { Result } from "../protocol/host-messages.ts";
import type { Frame } from "../rpc/frame.ts";
import type { PluginSession } from "./plugin-session.ts";

interface Relayed {
  session: PluginSession;
  callerActionId: string | undefined;
  answer(result: Result): void;
  cancel: Cancel;
}

export interface Relay {
  readonly inFlight: number;
  /** `unlimited`: the host's own questions are not refused for the many of others. */
  forward(
    session: PluginSession,
    envelope: HostEnvelope,
    answer: (result: Result) => void,
    options?: { unlimited: boolean },
  ): void;
  /** Takes a plugin's message if it answers something asked; false if nobody asked. */
  settle(session: PluginSession, requestId: string, message: Frame): boolean;
  /** The plugin is gone: everything asked of it ends now. */
  abandon(session: PluginSession, why: string): void;
  abandonAll(why: string): void;
  /** Resolves when nothing is in flight. */
  drained(): Promise<void>;
}

/** Lua writes an empty table as `[]`. */
const payloadOf = ({ payload }: Frame): Record<string, unknown> =>
  typeof payload === "object" && payload !== null && !Array.isArray(payload)
    ? (payload as Record<string, unknown>)
    : {};

export const errorResult = (sessionId: string, code: FaultCode, message: string, requestId?: string): Result => ({
  type: "error",
  sessionId,
  ...(requestId === undefined ? {} : { requestId }),
  payload: { code, message },
});

/** An id that this host or an earlier one gave: whatever carries it is an answer, if a late one. */
export const isRelayId = (requestId: string): boolean => /^hf-[0-9a-f]{8}-\d+$/.test(requestId);

export function createRelay({ clock, newId }: Pick<World, "clock" | "newId">, requestsPerSession: number): Relay {
  // Unique among hosts too: a plugin may answer a question of the last host on the connection to the next.
  const prefix = `hf-${newId().replaceAll("-", "").slice(0, 8)}-`;
  const relayed = new Map<string, Relayed>();
  const waiters: (() => void)[] = [];
  let counter = 0;

  const take = (id: string): Relayed | undefined => {
    const entry = relayed.get(id);
    if (!entry) return undefined;
    relayed.delete(id);
    entry.cancel();
    entry.session.pending--;
    if (relayed.size === 0) for (const done of waiters.splice(0)) done();
    return entry;
  };

  const fail = (id: string, code: FaultCode, message: string): void => {
    const entry = take(id);
    entry?.answer(errorResult(entry.session.info.sessionId, code, message, entry.callerActionId));
  };

  const abandon = (session: PluginSession | undefined, why: string): void => {
    for (const [id, entry] of [...relayed]) {
      if (session === undefined || entry.session === session) fail(id, "SESSION_DISCONNECTED", why);
    }
  };

  return {
    get inFlight() {
      return relayed.size;
    },
    forward(session, { action, timeoutMs }, answer, { unlimited } = { unlimited: false }) {
      const { sessionId } = session.info;
      const refuse = (code: FaultCode, message: string) =>
        answer(errorResult(sessionId, code, message, action.requestId));
      const known = actionFor(action.type);
      const payload = payloadSchemaOf(action.type).safeParse(action.payload);
      if (!payload.success) {
        const issue = payload.error.issues[0];
        return refuse("INVALID_PAYLOAD", `"${action.type}" has a bad "${issue?.path.join(".")}": ${issue?.message}`);
      }
      if (ONE_WAY.has(action.type)) {
        session.send({ ...action, sessionId: session.wireId });
        return answer({ type: "sent", sessionId, payload: {} });
      }
      if (session.pending >= requestsPerSession && !unlimited) {
        const message = `Session "${sessionId}" has ${requestsPerSession} requests pending; wait for some to end`;
        return refuse("TOO_MANY_REQUESTS", message);
      }
      const id = `${prefix}${++counter}`;
      const limitMs = timeoutMs ?? known.timeoutMs;
      const expire = () =>
        fail(id, "TIMEOUT", `The plugin did not answer "${action.type}" within ${Math.round(limitMs)} ms`);
      relayed.set(id, { session, callerActionId: action.requestId, answer, cancel: clock.after(limitMs, expire) });
      session.pending++;
      session.send({ ...action, sessionId: session.wireId, requestId: id });
    },
    settle(session, requestId, message) {
      // A plugin answers only what it was asked itself.
      if (relayed.get(requestId)?.session !== session) return false;
      const entry = take(requestId);
      if (!entry) return false;
      const { sessionId } = session.info;
      entry.answer({ ...message, sessionId, requestId: entry.callerActionId, payload: payloadOf(message) });
      return true;
    },
    abandon,
    abandonAll: (why) => abandon(undefined, why),
    drained: () => (relayed.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
