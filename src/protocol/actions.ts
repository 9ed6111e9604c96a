// Which actions can a plugin be asked for, how long may each take, and may it be asked twice?
import { z } from "zod";

interface Action {
  timeoutMs: number;
  /** Only these are ever repeated on a new host. */
  idempotent: boolean;
  result: string;
  payload: z.ZodType<Record<string, unknown>>;
}

const action = (
  timeoutMs: number,
  idempotent: boolean,
  result: string,
  payload: z.ZodType<Record<string, unknown>> = z.looseObject({}),
): Action => ({ timeoutMs, idempotent, result, payload });

const events = z.looseObject({ events: z.array(z.string()) });

export const ACTIONS = {
  execute: action(120_000, false, "scriptComplete", z.looseObject({ script: z.string() })),
  queryState: action(5_000, true, "stateResult"),
  captureScreenshot: action(30_000, true, "screenshotResult"),
  queryDataModel: action(10_000, true, "dataModelResult", z.looseObject({ path: z.string() })),
  queryLogs: action(10_000, true, "logsResult"),
  subscribe: action(5_000, true, "subscribeResult", events),
  unsubscribe: action(5_000, true, "unsubscribeResult", events),
  registerAction: action(10_000, false, "registerActionResult"),
  syncActions: action(10_000, false, "syncActionsResult"),
} satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

/** Sent to a plugin without an answer to wait for. */
export const ONE_WAY = new Set(["shutdown", "error"]);

const OTHERS: Action = action(30_000, false, "");

/** Plugins may have actions of their own (`registerAction`): they are relayed with careful defaults. */
export const actionFor = (name: string): Action =>
  Object.hasOwn(ACTIONS, name) ? ACTIONS[name as ActionName] : OTHERS;
