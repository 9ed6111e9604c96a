// Which actions can a plugin be asked for, how long may each take, and may it be asked twice?

interface Action {
  timeoutMs: number;
  /** Only these are ever repeated on a new host. */
  idempotent: boolean;
  result: string;
}

const action = (timeoutMs: number, idempotent: boolean, result: string): Action => ({ timeoutMs, idempotent, result });

export const ACTIONS = {
  execute: action(120_000, false, "scriptComplete"),
  queryState: action(5_000, true, "stateResult"),
  captureScreenshot: action(30_000, true, "screenshotResult"),
  queryDataModel: action(10_000, true, "dataModelResult"),
  queryLogs: action(10_000, true, "logsResult"),
  subscribe: action(5_000, true, "subscribeResult"),
  unsubscribe: action(5_000, true, "unsubscribeResult"),
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
