// How does a caller use one plugin? After the loss of host or plugin every method rejects at once.
import { createEmitter } from "../core/emitter.ts";
import { ACTIONS, type ActionName } from "../protocol/actions.ts";
import {
  ActionTimeoutError,
  CapabilityNotSupportedError,
  Fault,
  isFaultCode,
  SessionDisconnectedError,
} from "../protocol/fault.ts";
import { listOf } from "../protocol/guards.ts";
import type { Result, SessionInfo } from "../protocol/host-messages.ts";
import type { LogEntry } from "../protocol/plugin.ts";
import { isLogEntry } from "../protocol/plugin-frames.ts";
import { createQueue } from "./queue.ts";

export interface AskOptions {
  timeoutMs?: number | undefined;
}

export interface ExecResult {
  success: boolean;
  output: LogEntry[];
  error?: string;
  code?: string;
  value?: unknown;
}

type Payload = Record<string, unknown>;

export interface BridgeSession {
  readonly info: SessionInfo;
  readonly isConnected: boolean;
  exec(script: string, options?: AskOptions): Promise<ExecResult>;
  queryState(options?: AskOptions): Promise<Payload>;
  captureScreenshot(payload?: { format?: string }, options?: AskOptions): Promise<Payload>;
  queryDataModel(payload: { path: string } & Payload, options?: AskOptions): Promise<Payload>;
  queryLogs(payload?: Payload, options?: AskOptions): Promise<Payload>;
  subscribe(events: string[], options?: AskOptions): Promise<Payload>;
  unsubscribe(events: string[], options?: AskOptions): Promise<Payload>;
  /** Log entries as they come; ends with `SessionDisconnectedError` when the session does. */
  followLogs(): AsyncIterableIterator<LogEntry>;
  onPush(listener: (message: Result) => void): () => void;
  /** Told once, when host or plugin are lost. */
  onGone(listener: (error: SessionDisconnectedError) => void): () => void;
}

/** The connection's side of a session. */
export interface SessionHandle {
  session: BridgeSession;
  updated(info: SessionInfo): void;
  pushed(message: Result): void;
  disconnected(why: string): void;
}

export type Ask = (action: string, payload: Payload, timeoutMs: number) => Promise<Result>;

/** What a plugin without such a list of its own is still asked. */
const UNLISTED = new Set<ActionName>(["unsubscribe", "registerAction", "syncActions"]);

export function createSession(first: SessionInfo, ask: Ask, listenerThrew: (thrown: unknown) => void): SessionHandle {
  let info = first;
  let gone: string | undefined;
  const pushes = createEmitter<{ push: Result; gone: string }>(listenerThrew);

  const failure = (action: string, timeoutMs: number, { payload }: Result): Fault => {
    const code = typeof payload["code"] === "string" ? payload["code"] : "UNKNOWN";
    const message = typeof payload["message"] === "string" ? payload["message"] : "no reason given";
    if (code === "SESSION_DISCONNECTED") return new SessionDisconnectedError(info.sessionId, message);
    if (code === "SESSION_NOT_FOUND") return new SessionDisconnectedError(info.sessionId, "its plugin went away");
    if (code === "TIMEOUT") return new ActionTimeoutError(action, timeoutMs);
    if (code === "CAPABILITY_NOT_SUPPORTED") return new CapabilityNotSupportedError(action, info.sessionId);
    if (isFaultCode(code)) return new Fault(code, message, { sessionId: info.sessionId });
    return new Fault("REFUSED", `The plugin answered ${code}: ${message}`, { code, sessionId: info.sessionId });
  };

  const perform = async (action: ActionName, payload: Payload, options?: AskOptions): Promise<Result> => {
    if (gone !== undefined) throw new SessionDisconnectedError(info.sessionId, gone);
    if (!info.capabilities.includes(action) && !UNLISTED.has(action)) {
      throw new CapabilityNotSupportedError(action, info.sessionId);
    }
    const timeoutMs = options?.timeoutMs ?? ACTIONS[action].timeoutMs;
    const result = await ask(action, payload, timeoutMs);
    if (result.type === "error") throw failure(action, timeoutMs, result);
    return result;
  };
  const query = async (action: ActionName, payload: Payload, options?: AskOptions): Promise<Payload> => {
    const result = await perform(action, payload, options);
    // Some plugins tell a failure inside the result's own type.
    if (result.payload["success"] === false) throw failure(action, 0, result);
    return result.payload;
  };

  const session: BridgeSession = {
    get info() {
      return info;
    },
    get isConnected() {
      return gone === undefined;
    },
    async exec(script, options) {
      const { payload } = await perform("execute", { script }, options);
      const { output } = payload;
      return {
        success: payload["success"] === true,
        output: listOf(isLogEntry)(output) ? output : [],
        ...(typeof payload["error"] === "string" ? { error: payload["error"] } : {}),
        ...(typeof payload["code"] === "string" ? { code: payload["code"] } : {}),
        ...("value" in payload ? { value: payload["value"] } : {}),
      };
    },
    queryState: (options) => query("queryState", {}, options),
    captureScreenshot: (payload = {}, options) => query("captureScreenshot", payload, options),
    queryDataModel: (payload, options) => query("queryDataModel", payload, options),
    queryLogs: (payload = {}, options) => query("queryLogs", payload, options),
    subscribe: (events, options) => query("subscribe", { events }, options),
    unsubscribe: (events, options) => query("unsubscribe", { events }, options),
    async *followLogs() {
      const queue = createQueue<LogEntry>();
      const stopGone = session.onGone(queue.fail);
      const stopPush = session.onPush((message) => {
        const { entry } = message.payload;
        if (message.type === "logPush" && isLogEntry(entry)) queue.push(entry);
      });
      try {
        await session.subscribe(["logPush"]);
        yield* queue.items();
      } finally {
        stopGone();
        stopPush();
        if (gone === undefined) await session.unsubscribe(["logPush"]).catch(() => undefined);
      }
    },
    onPush: (listener) => pushes.on("push", listener),
    onGone: (listener) => pushes.on("gone", (why) => listener(new SessionDisconnectedError(info.sessionId, why))),
  };

  return {
    session,
    updated(next) {
      info = next;
    },
    pushed: (message) => pushes.emit("push", message),
    disconnected(why) {
      if (gone !== undefined) return;
      gone = why;
      pushes.emit("gone", why);
    },
  };
}
