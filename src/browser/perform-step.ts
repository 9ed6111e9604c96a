// How is a chosen action done, told and remembered? A loss goes on as it is; any other failure is the action's own.
import type { TaskOutcome, WebTask } from "../core/web-task.ts";
import type { Clock } from "../platform/world.ts";
import { BrowserDisconnectedError, RecoverableError } from "../protocol/browser-fault.ts";
import type { Brain } from "./brain.ts";
import type { PlaywrightBrowser } from "./playwright-browser.ts";
import type { Tell } from "./report.ts";
import type { TaskMemory } from "./task-memory.ts";

export interface StepTools {
  clock: Clock;
  browser: PlaywrightBrowser;
  brain: Brain;
  tell: Tell;
  /** Kept, and shown where somebody can see it. */
  picture(iteration: number, name: string, png: Uint8Array): void;
  memory: TaskMemory;
}

export async function performStep(
  { clock, browser, brain, tell, picture: show, memory }: StepTools,
  { action, warn, tally: { iteration } }: Extract<WebTask, { state: "performing" }>,
): Promise<TaskOutcome> {
  const { action: name } = action;
  const since = clock.elapsed();
  const before = browser.getUrl();
  const completed = (success: boolean, more: Record<string, unknown>): void => {
    const tookMs = Math.round(clock.elapsed() - since);
    tell("browser:action_completed", { iteration, action: name, success, tookMs, ...more });
  };
  tell("browser:action_started", { iteration, action: name });
  try {
    const { says, data, picture, unmet, notes } = await browser.performAction(action);
    if (data) memory.kept(data.name, data.value);
    if (picture) show(iteration, `${picture.name ?? "picture"}.png`, picture.png);
    const url = browser.getUrl();
    const noted = notes.length > 0 ? { notes } : {};
    completed(unmet === undefined, { url, ...noted, ...(data ? { data } : {}), ...(unmet ? { error: unmet } : {}) });
    if (url !== before) tell("browser:navigated", { url });
    if (unmet !== undefined) return { kind: "unmet", reason: "expectation", message: unmet };
    memory.did(action, [...(says === undefined ? [] : [says]), ...notes], warn);
    return { kind: "performed" };
  } catch (thrown) {
    if (!(thrown instanceof RecoverableError)) throw thrown;
    const { message } = thrown;
    completed(false, { error: message });
    if (thrown instanceof BrowserDisconnectedError) throw thrown;
    memory.failed(action, message);
    // Who does not look cannot find another way.
    if (!brain.looks) return { kind: "unmet", reason: "step-failed", message: `"${name}" failed: ${message}` };
    return { kind: "erred", message };
  }
}
