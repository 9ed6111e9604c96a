// What is a conversation with an agent? Prompts one after the other, a journal of all that was said, any number of viewers.
import { isOnRecord } from "../core/heard.ts";
import { createKnownPrompts, type KnownPrompts } from "../core/known-prompts.ts";
import type { SessionFold } from "../core/session-fold.ts";
import type { PermissionOutcome, PermissionParams } from "../protocol/acp.ts";
import type { Policy } from "../protocol/agents.ts";
import type { AcpClient } from "./acp-client.ts";
import { type Activity, createActivity } from "./activity.ts";
import type { SaidUpdate } from "./early-updates.ts";
import { LOST, leftPrompts, NEVER_SENT } from "./left-prompts.ts";
import { createPermissions, type Permissions } from "./permissions.ts";
import { PromptQueue } from "./prompt-queue.ts";
import { createScribe, type Scribe } from "./scribe.ts";
import type { Prompt, SessionDeps, SessionOptions, Work } from "./session-needs.ts";
import { createSessionSettings, type SessionSettings } from "./session-settings.ts";
import { forgottenBy, isForgotten, isUntouched, neverSent, turnFailure } from "./turn-failure.ts";
import { createViewers, type Viewers } from "./viewers.ts";

type Ended = Record<string, unknown>;

export class AgentSession {
  readonly options: SessionOptions;
  readonly viewers: Viewers;
  readonly #deps: SessionDeps;
  readonly #scribe: Scribe;
  readonly #queue = new PromptQueue();
  readonly #written = new Set<Prompt>();
  readonly #known: KnownPrompts;
  readonly permissions: Permissions;
  readonly #activity: Activity;
  /** The agent's own name for this session, once it has one. */
  acpSessionId: string | undefined;
  #running: Prompt | undefined;
  #client: AcpClient | undefined;
  #cancelled = false;
  #giveUp: () => void = () => {};
  /** While a session is loaded, its replay is history that the journal has. */
  suppressed: boolean;
  readonly settings: SessionSettings;
  #policy: Policy = "deny";
  /** Its agent has not answered this host yet: prompts are recorded, and wait for `resume`. */
  isPostponed = false;

  constructor(options: SessionOptions, deps: SessionDeps) {
    const { fold } = deps.journal;
    this.options = options;
    this.#deps = deps;
    this.#activity = createActivity(fold, deps);
    this.acpSessionId = fold.acpSessionId;
    this.settings = createSessionSettings(fold);
    this.suppressed = fold.suppressed;
    this.#known = createKnownPrompts(fold.prompts);
    this.viewers = createViewers(deps.journal);
    this.#scribe = createScribe(deps.clock, deps.journal, this.viewers.wake, this.viewers.notice);
    const changed = (): void => {
      // Its silence while it waited for a person was no silence of its own.
      this.#activity.heard();
      deps.changed(this);
    };
    this.permissions = createPermissions(this.#scribe.record, changed, (permissionId) =>
      fold.permissions.find((each) => each.permissionId === permissionId),
    );
  }

  get work(): Work {
    const waiting = this.permissions.open > 0;
    return {
      turn: waiting ? "waiting" : this.#running ? "running" : "idle",
      promptId: this.#running?.promptId,
      queued: this.#queue.length + (this.isPostponed ? this.fold.open.length : 0),
      outstanding: this.#written.size,
      permissions: this.permissions.open,
      ...this.#activity.times,
      openToolCalls: this.#activity.openToolCalls,
    };
  }

  get lastSeq(): number {
    return this.#deps.journal.lastSeq;
  }

  get isBehind(): boolean {
    return this.#scribe.isBehind;
  }

  written: Scribe["written"] = () => this.#scribe.written();
  record: Scribe["record"] = (type, data, source) => this.#scribe.record(type, data, source);

  /** What an earlier host left open: the turn that runs in this client, if it still does, and what was queued. */
  resume(client: AcpClient | undefined, isGone: boolean): void {
    this.isPostponed = false;
    for (const left of leftPrompts(this.#deps, client, isGone)) {
      const { prompt } = left;
      if (left.kind === "waits") this.#queue.push(prompt);
      else if (left.kind === "over") this.record("turn-ended", { promptId: prompt.promptId, ...left.end });
      else {
        this.#activity.turnStarted(left.at);
        void this.#run(prompt, this.#ask(prompt, left.client, left.asked));
      }
    }
    void this.#pump();
  }

  get fold(): Readonly<SessionFold> {
    return this.#deps.journal.fold;
  }

  knows = (promptId: string): boolean => this.#known.after(promptId) !== undefined;
  /** Under an id that is known already nothing is sent again. Returns behind which record its events are. */
  prompt(prompt: Prompt): number {
    const { promptId, text, policy, clientId, closes } = prompt;
    const after = this.#known.after(promptId) ?? this.lastSeq;
    if (this.knows(promptId)) return after;
    const more = { queued: this.#queue.length + 1, ...(closes ? { closes } : {}) };
    this.#scribe.mustRecord("prompt", { promptId, text, policy, clientId, ...more });
    this.#known.add(promptId, after);
    // What is on record while it is postponed is taken up with the rest.
    if (!this.isPostponed) this.#queue.push(prompt);
    void this.#pump();
    return after;
  }

  withdraw(promptId: string): boolean {
    if (!this.#queue.remove(promptId)) return false;
    this.record("withdrawn", { promptId });
    // Every prompt has this end: scripts wait for it.
    this.record("turn-ended", { promptId, stopReason: "cancelled" });
    return true;
  }

  cancel(promptId?: string): boolean {
    if (promptId !== undefined && this.#running?.promptId !== promptId) return this.withdraw(promptId);
    if (!this.#running && this.#activity.openToolCalls === 0) return false;
    this.#cancelled = true;
    const running = this.#running;
    // Not sent yet: the next host would send it.
    if (running && !this.#written.has(running)) this.record("cancel-asked", { promptId: running.promptId });
    if (this.acpSessionId) this.#client?.cancel(this.acpSessionId);
    this.permissions.cancel("cancel");
    return true;
  }

  isOpen = (promptId: string): boolean => this.#running?.promptId === promptId || this.#queue.ids.includes(promptId);

  /** Takes back all that was asked; the answer gives up a turn that goes on nevertheless. */
  stop(): () => void {
    const running = this.#running;
    for (const promptId of this.#queue.ids) this.withdraw(promptId);
    this.cancel();
    return () => {
      if (this.#running !== running) return;
      this.#activity.toolsLost();
      this.#giveUp();
    };
  }

  updated({ update, beside = {}, source }: SaidUpdate): void {
    if (source && isOnRecord(this.fold, source)) return;
    this.#activity.heard();
    if (this.suppressed) return;
    this.settings.notice(update);
    this.#activity.updated(update);
    this.record("update", { ...beside, update }, source);
  }

  permission(params: PermissionParams, permissionId: string): Promise<PermissionOutcome> {
    this.#activity.heard();
    const asked = this.permissions.ask(params, permissionId, this.#policy);
    // It crossed the cancel on its way.
    if (this.#cancelled) this.permissions.cancel("cancel", permissionId);
    return asked;
  }

  /** The process is gone: nobody waits for its answers any more. */
  agentLost(): void {
    this.#client = undefined;
    this.#activity.toolsLost();
    this.permissions.cancel("agent");
  }

  /** The host leaves: from now on the journal is another one's. Turns of an agent that is not kept end here. */
  end(isKept: boolean): void {
    if (!isKept) {
      if (this.#running) this.record("turn-ended", { promptId: this.#running.promptId, ...LOST });
      for (const promptId of this.#queue.ids) this.record("turn-ended", { promptId, ...NEVER_SENT });
    }
    this.#deps.journal.rest();
    this.#scribe.end();
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    const prompt = this.#queue.shift();
    if (!prompt) return this.#deps.changed(this);
    await this.#run(prompt, this.#turn(prompt));
  }

  async #run(prompt: Prompt, turn: Promise<Ended>): Promise<void> {
    this.#running = prompt;
    this.#policy = prompt.policy;
    this.#cancelled = false;
    const givenUp = Promise.withResolvers<Ended>();
    this.#giveUp = () => givenUp.resolve({ stopReason: "cancelled" });
    const end = await Promise.race([turn, givenUp.promise]);
    this.#written.delete(prompt);
    this.#running = undefined;
    this.record("turn-ended", { promptId: prompt.promptId, ...end });
    void this.#pump();
  }

  #isOff = (prompt: Prompt): boolean => this.#cancelled || this.#running !== prompt;
  async #turn(prompt: Prompt): Promise<Ended> {
    try {
      // The caller notes first that it runs.
      await Promise.resolve();
      const client = await this.#deps.ready(this);
      await client.endGivenUp(this.acpSessionId ?? "");
      if (this.#isOff(prompt)) return { stopReason: "cancelled" };
      this.suppressed = false;
      this.record("turn-started", { promptId: prompt.promptId }, client.position());
      // Nothing is sent whose beginning is not on record: the next host would send it again.
      if (!(await this.#scribe.written())) return await new Promise<never>(() => {});
      if (this.#isOff(prompt)) return { stopReason: "cancelled" };
      this.#activity.turnStarted();
      return await this.#ask(prompt, client);
    } catch (thrown) {
      return neverSent(turnFailure(thrown, this.options, this.#client));
    }
  }

  async #ask(prompt: Prompt, client: AcpClient, asked?: Promise<Ended>): Promise<Ended> {
    this.#client = client;
    this.#written.add(prompt);
    this.#deps.changed(this);
    try {
      if (asked) return await asked;
      const { promptId, text } = prompt;
      const again = this.fold.again === promptId;
      return await client.prompt(this.acpSessionId ?? "", [{ type: "text", text }], promptId, again);
    } catch (thrown) {
      // Once, and only where nothing was done.
      const mayAgain = isForgotten(thrown) && !this.#isOff(prompt) && !this.#scribe.isOver && !this.isBehind;
      if (!mayAgain || !isUntouched(this.fold, prompt.promptId)) return turnFailure(thrown, this.options, client);
      this.record("session-forgotten", { promptId: prompt.promptId, ...forgottenBy(this.options, thrown) });
      this.#written.delete(prompt);
      this.#deps.forgotten(this, client);
      return await this.#turn(prompt);
    }
  }
}
