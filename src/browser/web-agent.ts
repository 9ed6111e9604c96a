// How does a task run? plan → start URL → iterations → validation; what comes next is decided in core/web-task.
// A lost browser is a typed outcome of whatever was under way: nothing in between can swallow it.
import { type Limits, nextTask, startTask, type TaskOutcome, type WebTask } from "../core/web-task.ts";
import type { Clock } from "../platform/world.ts";
import { BrowserDisconnectedError, EndpointsExhaustedError, RecoverableError } from "../protocol/browser-fault.ts";
import type { Plan, Step } from "../protocol/web-task.ts";
import type { Brain, Briefing } from "./brain.ts";
import type { OutFolder } from "./out-folder.ts";
import { performStep } from "./perform-step.ts";
import type { PlaywrightBrowser, Sight } from "./playwright-browser.ts";
import type { Tell } from "./report.ts";
import type { CarriedState } from "./state.ts";
import { createTaskMemory, type TaskMemory } from "./task-memory.ts";
import { think } from "./think.ts";

export interface WebAgentOptions {
  clock: Clock;
  browser: PlaywrightBrowser;
  brain: Brain;
  briefing: Briefing;
  limits: Limits;
  /** Cookies and storage go along to the next browser. */
  carry: boolean;
  tell: Tell;
  out: OutFolder | undefined;
  picture(iteration: number, name: string, png: Uint8Array): void;
  /** The end of the task from outside. */
  signal: AbortSignal;
}

type Over = Extract<WebTask, { state: "over" }>;

export interface TaskResult {
  end: Over;
  data: Readonly<Record<string, string>>;
  /** What was performed, for a steps file. */
  steps: readonly Step[];
  startUrl: string;
}

const BLANK = "about:blank";

export class WebAgent {
  readonly #options: WebAgentOptions;
  readonly #memory: TaskMemory = createTaskMemory();
  #state: CarriedState | undefined;
  #endpointIndex: number | undefined;
  #total = 0;
  /** Of the state, in the browser that replaced the lost one; undefined: there was none to bring. */
  #missing: readonly string[] | undefined;
  #task: WebTask = startTask();

  constructor(options: WebAgentOptions) {
    this.#options = options;
  }

  async run(): Promise<TaskResult> {
    const { limits } = this.#options;
    const first = await this.#outcome(async () => this.#started(await this.#options.browser.start()));
    if (first.kind !== "reconnected") this.#task = nextTask(this.#task, first, limits);
    for (;;) {
      const task = this.#task;
      if (task.state === "over") return this.#result(task);
      this.#task = nextTask(task, await this.#step(task), limits);
    }
  }

  /** How far it has come, also when it was cut short. */
  get stats(): Record<string, unknown> {
    const { iteration: iterations, totalErrors, reconnects, actions, validations } = this.#task.tally;
    return { iterations, totalErrors, reconnects, actions, validations, endpointIndex: this.#endpointIndex };
  }

  #result(task: Over): TaskResult {
    const { data, steps } = this.#memory;
    return { end: task, data, steps, startUrl: this.#startUrl(task.plan) };
  }

  /** The one place where what was thrown becomes what happened. */
  async #outcome(work: () => Promise<TaskOutcome>): Promise<TaskOutcome> {
    const { browser, tell, signal } = this.#options;
    try {
      return await work();
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof EndpointsExhaustedError) return { kind: "exhausted", message: thrown.message };
      if (thrown instanceof BrowserDisconnectedError) {
        tell("browser:disconnected", { endpointIndex: this.#endpointIndex, error: thrown.message });
        browser.shutdown();
        return { kind: "disconnected", message: thrown.message };
      }
      if (thrown instanceof RecoverableError) return this.#erred(thrown.message);
      throw thrown;
    }
  }

  #step(task: Exclude<WebTask, Over>): Promise<TaskOutcome> {
    return this.#outcome(() => {
      switch (task.state) {
        case "planning":
          return this.#plan();
        case "opening":
          return this.#open(task.plan, task.tries);
        case "choosing":
          return this.#choose(task);
        case "performing":
          return this.#perform(task);
        case "validating":
          return this.#validate(task);
        case "reconnecting":
          return this.#handleBrowserDisconnect(task);
        case "reopening":
          return this.#reopen(task.plan, task.tries);
      }
    });
  }

  #think<Value>(ask: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const { browser, signal } = this.#options;
    return think(browser.lost, signal, ask);
  }

  #unfit(why: string): TaskOutcome {
    this.#memory.unfit(why);
    return this.#erred(why);
  }

  #erred(message: string): TaskOutcome {
    this.#options.tell("agent:step", { iteration: this.#task.tally.iteration, error: message });
    return { kind: "erred", message };
  }

  #started({ endpointIndex, total, kind }: { endpointIndex: number; total: number; kind: string }): TaskOutcome {
    this.#endpointIndex = endpointIndex;
    this.#total = total;
    this.#options.tell("cdp:endpoint_connected", { endpointIndex, total, kind });
    return { kind: "reconnected" };
  }

  async #plan(): Promise<TaskOutcome> {
    const { brain, briefing, tell } = this.#options;
    const found = await this.#think((signal) => brain.plan(briefing, signal));
    if (found.kind === "unfit") return this.#unfit(found.why);
    const { successCriteria, plan, actionItems } = found.value;
    tell("task:planned", { successCriteria, plan, url: this.#startUrl(found.value), actionItems });
    brain.reset(briefing, found.value);
    return { kind: "planned", plan: found.value };
  }

  #startUrl(plan: Plan | undefined): string {
    return this.#options.briefing.startUrl ?? plan?.url ?? BLANK;
  }

  async #open(plan: Plan | undefined, tries: number): Promise<TaskOutcome> {
    const { clock, browser, tell, signal } = this.#options;
    // A site that is just starting gets a moment.
    if (tries > 0) await clock.sleep(500 * tries, AbortSignal.any([signal, browser.lost]));
    const url = this.#startUrl(plan);
    if (url === BLANK) return { kind: "opened" };
    try {
      await browser.goto(url);
    } catch (thrown) {
      if (thrown instanceof BrowserDisconnectedError || !(thrown instanceof RecoverableError)) throw thrown;
      return { kind: "open-failed", message: thrown.message };
    }
    tell("browser:navigated", { url: browser.getUrl() });
    return { kind: "opened" };
  }

  async #choose({ tally }: Extract<WebTask, { state: "choosing" }>): Promise<TaskOutcome> {
    const { browser, brain, limits, tell, out } = this.#options;
    const { iteration } = tally;
    const sight = brain.looks || out ? await browser.getTreeWithRefs() : undefined;
    await this.#keep(iteration, sight);
    this.#memory.saw(sight?.tree ?? "");
    const { news } = this.#memory;
    const situation = { iteration, maxIterations: limits.maxIterations, sight: brain.looks ? sight : undefined, news };
    const found = await this.#think((signal) => brain.next(situation, signal));
    this.#memory.heard();
    if (found.kind === "unfit") return this.#unfit(found.why);
    const { action, fingerprint, thought } = found.value;
    tell("agent:step", { iteration, action, ...(thought === undefined ? {} : { thought }) });
    return { kind: "chose", action, fingerprint };
  }

  async #keep(iteration: number, sight: Sight | undefined): Promise<void> {
    const { browser, out } = this.#options;
    if (!out || !sight) return;
    out.keep(iteration, "tree.yml", `# ${sight.url}\n# ${sight.title}\n${sight.tree}\n`);
    out.keep(iteration, "screenshot.png", await browser.getScreenshot());
  }

  async #perform(task: Extract<WebTask, { state: "performing" }>): Promise<TaskOutcome> {
    const outcome = await performStep({ ...this.#options, memory: this.#memory }, task);
    if (outcome.kind === "performed" && this.#options.carry) await this.#saveState();
    return outcome;
  }

  /** One that cannot be read now is as it was. */
  async #saveState(): Promise<void> {
    try {
      this.#state = await this.#options.browser.saveState(this.#state);
    } catch (thrown) {
      if (thrown instanceof BrowserDisconnectedError || !(thrown instanceof RecoverableError)) throw thrown;
    }
  }

  /** Needs no browser: one that dies now does not take the answer along. */
  async #validate({ answer, plan, tally }: Extract<WebTask, { state: "validating" }>): Promise<TaskOutcome> {
    const { brain, briefing, tell, signal } = this.#options;
    const { history, data } = this.#memory;
    const successCriteria = plan?.successCriteria ?? "";
    const done = { task: briefing.task, successCriteria, answer, history, data };
    const found = await brain.judge(done, signal);
    if (found.kind === "unfit") return this.#unfit(found.why);
    const { success, feedback } = found.value;
    tell("task:validated", { success, feedback, attempt: tally.validations + 1 });
    if (!success) this.#memory.judgedWrong(feedback);
    return { kind: "judged", success, feedback };
  }

  async #handleBrowserDisconnect({ plan }: Extract<WebTask, { state: "reconnecting" }>): Promise<TaskOutcome> {
    const { browser } = this.#options;
    this.#started(await browser.start());
    // Whatever of it is refused: the task goes on without.
    this.#missing = this.#state && (await browser.restoreState(this.#state));
    return await this.#reopen(plan, 0);
  }

  async #reopen(plan: Plan | undefined, tries: number): Promise<TaskOutcome> {
    const { brain, briefing, carry, tell } = this.#options;
    const startingUrl = this.#startUrl(plan);
    // Never the last page: what led there is gone with the browser.
    const opened = plan ? await this.#open(plan, tries) : undefined;
    if (opened && opened.kind !== "opened") return opened;
    brain.reset(briefing, plan);
    const missing = this.#missing;
    this.#memory.reconnected(carry ? startingUrl : undefined, missing);
    const told = missing && missing.length > 0 ? { notRestored: missing } : {};
    tell("browser:reconnected", { startingUrl, endpointIndex: this.#endpointIndex, total: this.#total, ...told });
    return { kind: "reconnected" };
  }
}
