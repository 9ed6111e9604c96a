// What does the built-in JavaScript plugin answer? The actions of the bridge, over a sandbox; the socket is not its concern.
import type { Clock } from "../platform/world.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { LogEntry } from "../protocol/plugin.ts";
import { dataModelQueryOf, eventsOf, logQueryOf, type Payload, scriptOf } from "./js-payload.ts";
import { createLogBuffer } from "./log-buffer.ts";
import type { PluginActions, PluginMessage } from "./plugin-client.ts";
import { createSandbox } from "./sandbox.ts";

export interface JsPluginOptions {
  clock: Clock;
  /** How long one script or query may run. */
  deadlineMs: number;
  placeName?: string;
  push(message: PluginMessage): void;
}

export interface JsPlugin extends PluginActions {
  end(): void;
}

type State = "Edit" | "Run";
/** Shorter scripts are not worth a word to everybody. */
const RUN_AFTER_MS = 100;
const CAPABILITIES = ["execute", "queryState", "queryDataModel", "queryLogs", "subscribe", "heartbeat"] as const;
const EVENTS = new Set(["stateChange", "logPush"]);

const fail = (code: string, message: string): PluginMessage => ({ type: "error", payload: { code, message } });

export function createJsPlugin({ clock, deadlineMs, placeName = "JavaScript", push }: JsPluginOptions): JsPlugin {
  const logs = createLogBuffer();
  const subscribed = new Set<string>();
  let state: State = "Edit";
  let cancelRun = () => {};

  function enter(newState: State): void {
    if (newState === state) return;
    const previousState = state;
    state = newState;
    push({ type: "stateChange", payload: { previousState, newState, timestamp: clock.now() / 1000 } });
  }

  const sandbox = createSandbox({
    clock,
    onLog(entry: LogEntry) {
      logs.add(entry);
      if (subscribed.has("logPush")) push({ type: "logPush", payload: { entry } });
    },
    onRunning(running) {
      cancelRun();
      if (running) cancelRun = clock.after(RUN_AFTER_MS, () => enter("Run"));
      else enter("Edit");
    },
  });

  const actions: Record<string, (payload: Payload) => PluginMessage | Promise<PluginMessage>> = {
    async execute(payload) {
      const { outputDropped, ...result } = await sandbox.execute(scriptOf(payload), deadlineMs);
      return { type: "scriptComplete", payload: { ...result, ...(outputDropped > 0 && { outputDropped }) } };
    },
    queryState: () => ({ type: "stateResult", payload: { state, placeId: 0, placeName, gameId: 0 } }),
    queryLogs: (payload) => ({ type: "logsResult", payload: { ...logs.query(logQueryOf(payload)) } }),
    async queryDataModel(payload) {
      const answer = await sandbox.query(dataModelQueryOf(payload), deadlineMs);
      if (!answer.success) return fail(answer.code, answer.error);
      return { type: "dataModelResult", payload: { instance: answer.instance } };
    },
    subscribe(payload) {
      const events = eventsOf(payload).filter((event) => EVENTS.has(event));
      for (const event of events) subscribed.add(event);
      return { type: "subscribeResult", payload: { events } };
    },
    unsubscribe(payload) {
      const events = eventsOf(payload);
      for (const event of events) subscribed.delete(event);
      return { type: "unsubscribeResult", payload: { events } };
    },
    captureScreenshot: () => fail("CAPABILITY_NOT_SUPPORTED", "A JavaScript session has no screen to capture"),
  };

  return {
    capabilities: CAPABILITIES,
    state: () => state,
    async handle(type, payload) {
      const action = Object.hasOwn(actions, type) ? actions[type] : undefined;
      if (!action) return fail("UNKNOWN_REQUEST", `Unknown message type: ${type}`);
      try {
        return await action(payload);
      } catch (error) {
        return error instanceof Fault ? fail(error.code, error.message) : fail("INTERNAL_ERROR", messageOf(error));
      }
    },
    disconnected: () => subscribed.clear(),
    end() {
      cancelRun();
      subscribed.clear();
      sandbox.end();
    },
  };
}
