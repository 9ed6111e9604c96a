// What is a plugin to a test? The real plugin client in a fake process, with actions that answer as they are told.
import { FOREIGN_BACKOFF, type PluginLife } from "../../src/core/plugin-life.ts";
import {
  type PluginClient,
  type PluginClientOptions,
  type PluginMessage,
  startPluginClient,
} from "../../src/plugin/plugin-client.ts";
import { PORT, stateOf } from "./bridges.ts";
import type { FakeProcess, Machine } from "./fake-world.ts";

export interface FakePlugin {
  readonly process: FakeProcess;
  readonly client: PluginClient;
  readonly states: PluginLife["state"][];
  readonly lives: { life: PluginLife; at: number }[];
  readonly asked: { type: string; payload: Record<string, unknown> }[];
  readonly notices: string[];
  /** Actions that are never answered. */
  readonly mute: Set<string>;
  readonly subscribed: Set<string>;
  end(): void;
}

export interface FakePluginOptions extends Partial<PluginClientOptions> {
  process?: FakeProcess;
  instanceId?: string;
  context?: "edit" | "client" | "server";
  capabilities?: readonly string[];
  answers?: Record<string, (payload: Record<string, unknown>) => PluginMessage>;
}

export const ALL_CAPABILITIES = [
  "execute",
  "queryState",
  "captureScreenshot",
  "queryDataModel",
  "queryLogs",
  "subscribe",
  "heartbeat",
];

const result = (type: string, payload: Record<string, unknown> = {}): PluginMessage => ({ type, payload });

const ANSWERS: Record<string, (payload: Record<string, unknown>) => PluginMessage> = {
  execute: ({ script }) => result("scriptComplete", { success: true, output: [], value: script }),
  queryState: () => result("stateResult", { state: "Edit", placeName: "Place", placeId: 0, gameId: 0 }),
  captureScreenshot: () => result("screenshotResult", { data: "AAAA", format: "png" }),
  queryDataModel: ({ path }) => result("dataModelResult", { instance: { path } }),
  queryLogs: () => result("logsResult", { entries: [], total: 0 }),
  subscribe: ({ events }) => result("subscribeResult", { events }),
  unsubscribe: ({ events }) => result("unsubscribeResult", { events }),
};

export function startPlugin(machine: Machine, options: FakePluginOptions = {}): FakePlugin {
  const { instanceId = "inst-1", context = "edit", capabilities = ALL_CAPABILITIES, answers, ...rest } = options;
  const process = options.process ?? machine.process();
  const lives: FakePlugin["lives"] = [];
  const asked: FakePlugin["asked"] = [];
  const notices: string[] = [];
  const mute = new Set<string>();
  const subscribed = new Set<string>();
  const over = new AbortController();
  const client = startPluginClient(process.world, {
    port: PORT,
    token: stateOf(process).token(),
    identity: { instanceId, context, placeName: `Place ${instanceId}`, pluginVersion: "1.0.0" },
    backoff: FOREIGN_BACKOFF,
    signal: over.signal,
    changed: (life) => void lives.push({ life, at: machine.now }),
    notice: (message) => void notices.push(message),
    ...rest,
    actions: {
      capabilities,
      state: () => "Edit",
      async handle(type, payload) {
        asked.push({ type, payload });
        if (mute.has(type)) return await new Promise<never>(() => {});
        const events = Array.isArray(payload["events"]) ? payload["events"].map(String) : [];
        for (const event of events) type === "subscribe" ? subscribed.add(event) : subscribed.delete(event);
        const answer = answers?.[type] ?? ANSWERS[type];
        return answer ? answer(payload) : result("error", { code: "UNKNOWN_REQUEST", message: type });
      },
      disconnected: () => subscribed.clear(),
    },
  });
  return {
    process,
    client,
    lives,
    get states() {
      return lives.map(({ life }) => life.state);
    },
    asked,
    notices,
    mute,
    subscribed,
    end: () => over.abort(),
  };
}

/** Started, and connected to whoever hosts. */
export function connectPlugin(machine: Machine, options?: FakePluginOptions): FakePlugin {
  const plugin = startPlugin(machine, options);
  machine.until(() => plugin.client.life.state === "connected");
  machine.advance(5);
  return plugin;
}
