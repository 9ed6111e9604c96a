// What is a conversation with an agent? Prompts one after the other, a journal of all that was said, any number of viewers.
import type { IdleState } from "../core/idle-guards.ts";
import type { Clock } from "../platform/world.ts";
import type { PermissionOutcome, PermissionParams } from "../protocol/acp.ts";
import type { AgentSessionInfo, Policy } from "../protocol/agents.ts";
import type { AcpClient } from "./acp-client.ts";
import type { Journal, Source } from "./journal.ts";
import { createPermissions, type Permissions } from "./permissions.ts";
import { createScribe, type Scribe } from "./scribe.ts";
import { createSessionSettings } from "./session-settings.ts";
import { turnFailure } from "./turn-failure.ts";
import { createViewers, type Viewers } from "./viewers.ts";

export interface Prompt {
  promptId: string;
  text: string;
  policy: Policy;
  /** Who asked, as the others see it. */
  clientId: string;
}

export interface SessionOptions {
  name: string;
  agent: string;
  displayName: string;
  cwd: string;
}

export interface SessionDeps {
  clock: Clock;
  /** Waking milliseconds. */
  now(): number;
  journal: Journal;
  /** The agent with this session open in it. */
  ready(session: AgentSession): Promise<AcpClient>;
  changed(session: AgentSession): void;
}

export interface Work extends Omit<IdleState, "pin"> {
  turn: "idle" | "running" | "waiting";
}

const HOST_LEFT = {
  stopReason: "lost",
  code: "AGENT_LOST",
  message: "The host was stopped; the outcome is unknown",
};
const OPEN_STATES: ReadonlySet<unknown> = new Set(["pending", "in_progress"]);

export class AgentSession {
  readonly options: SessionOptions;
  readonly viewers: Viewers;
  readonly #deps: SessionDeps;
  readonly #scribe: Scribe;
  readonly #queue: Prompt[] = [];
  readonly #written = new Set<Prompt>();
  /** Prompts by id, and behind which record each begins. */
  readonly #known = new Map<string, number>();
  readonly #permissions: Permissions;
  readonly #toolCalls = new Set<string>();
  /** The agent's own name for this session, once it has one. */
  acpSessionId: string | undefined;
  #running: Prompt | undefined;
  #client: AcpClient | undefined;
  #cancelled = false;
  #giveUp: () => void = () => {};
  /** While a session is loaded, its replay is history that the journal has. */
  suppressed = false;
  settings = createSessionSettings();
  #policy: Policy = "deny";
  #turnStartedAt = 0;
  #lastOutputAt: number;

  constructor(options: SessionOptions, deps: SessionDeps) {
    this.options = options;
    this.#deps = deps;
    this.#lastOutputAt = deps.now();
    this.viewers = createViewers(deps.journal);
    this.#scribe = createScribe(deps.clock, deps.journal, this.viewers.wake);
    this.#permissions = createPermissions(this.#scribe.record, () => {
      // Its silence while it waited for a person was no silence of its own.
      this.#lastOutputAt = deps.now();
      deps.changed(this);
    });
  }

  get work(): Work {
    const waiting = this.#permissions.open > 0;
    return {
      turn: waiting ? "waiting" : this.#running ? "running" : "idle",
      queued: this.#queue.length,
      outstanding: this.#written.size,
      permissions: this.#permissions.open,
      turnStartedAt: this.#turnStartedAt,
      lastOutputAt: this.#lastOutputAt,
      openToolCalls: this.#toolCalls.size,
    };
  }

  get lastSeq(): number {
    return this.#deps.journal.lastSeq;
  }

  /** Something still waits to be written. */
  get isBehind(): boolean {
    return this.#scribe.isBehind;
  }

  info(idle: AgentSessionInfo["idle"]): AgentSessionInfo {
    const { name, agent, cwd } = this.options;
    const { turn, queued } = this.work;
    return { kind: "agent", name, agent, cwd, turn, queued, clients: this.viewers.size, lastSeq: this.lastSeq, idle };
  }

  record(type: string, data: Record<string, unknown>, source?: Source): void {
    this.#scribe.record(type, data, source);
  }

  /** Prompts of an earlier host. */
  remember(prompts: ReadonlyMap<string, number>): void {
    for (const [promptId, after] of prompts) this.#known.set(promptId, after);
  }

  knows(promptId: string): boolean {
    return this.#known.has(promptId);
  }

  /** Under an id that is known already nothing is sent again. Returns behind which record its events are. */
  prompt(prompt: Prompt): number {
    const { promptId, text, policy, clientId } = prompt;
    const after = this.#known.get(promptId) ?? this.lastSeq;
    if (this.knows(promptId)) return after;
    this.#scribe.mustRecord("prompt", { promptId, text, policy, clientId, queued: this.#queue.length + 1 });
    this.#known.set(promptId, after);
    this.#queue.push(prompt);
    void this.#pump();
    return after;
  }

  withdraw(promptId: string): boolean {
    const index = this.#queue.findIndex((prompt) => prompt.promptId === promptId);
    if (index < 0) return false;
    this.#queue.splice(index, 1);
    this.record("withdrawn", { promptId });
    // Every prompt has this end: scripts wait for it.
    this.record("turn-ended", { promptId, stopReason: "cancelled" });
    return true;
  }

  cancel(promptId?: string): boolean {
    if (promptId !== undefined && this.#running?.promptId !== promptId) return this.withdraw(promptId);
    if (!this.#running && this.#toolCalls.size === 0) return false;
    this.#cancelled = true;
    if (this.acpSessionId) this.#client?.cancel(this.acpSessionId);
    this.#permissions.cancel("cancel");
    return true;
  }

  isOpen(promptId: string): boolean {
    return this.#running?.promptId === promptId || this.#queue.some((prompt) => prompt.promptId === promptId);
  }

  /** Takes back all that was asked; the answer gives up a turn that goes on nevertheless. */
  stop(): () => void {
    const running = this.#running;
    for (const { promptId } of [...this.#queue]) this.withdraw(promptId);
    this.cancel();
    return () => {
      if (this.#running !== running) return;
      this.#toolCalls.clear();
      this.#giveUp();
    };
  }

  answer(permissionId: string, optionId: string, by: string): void {
    this.#permissions.answer(permissionId, optionId, by);
  }

  updated(update: Record<string, unknown>, source?: Source): void {
    this.#lastOutputAt = this.#deps.now();
    if (this.suppressed) return;
    this.settings.notice(update);
    const { toolCallId, status } = update;
    if (typeof toolCallId === "string") {
      if (OPEN_STATES.has(status)) this.#toolCalls.add(toolCallId);
      else if (status !== undefined && status !== null) this.#toolCalls.delete(toolCallId);
    }
    this.record("update", { update }, source);
  }

  permission(params: PermissionParams, permissionId: string): Promise<PermissionOutcome> {
    this.#lastOutputAt = this.#deps.now();
    const asked = this.#permissions.ask(params, permissionId, this.#policy);
    // It crossed the cancel on its way: nobody is asked for a turn that is to end.
    if (this.#cancelled) this.#permissions.cancel("cancel", permissionId);
    return asked;
  }

  permissionWithdrawn(permissionId: string): void {
    this.#permissions.cancel("agent", permissionId);
  }

  /** The process is gone: nobody waits for its answers any more. */
  agentLost(): void {
    this.#client = undefined;
    this.#toolCalls.clear();
    this.#permissions.cancel("agent");
  }

  /** The host leaves: what was asked of it is lost, and from now on the journal is another one's. */
  end(): void {
    for (const { promptId } of this.#running ? [this.#running, ...this.#queue] : this.#queue)
      this.record("turn-ended", { promptId, ...HOST_LEFT });
    this.#scribe.end();
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    const prompt = this.#queue.shift();
    if (!prompt) return this.#deps.changed(this);
    this.#running = prompt;
    this.#policy = prompt.policy;
    this.#cancelled = false;
    const givenUp = Promise.withResolvers<Record<string, unknown>>();
    this.#giveUp = () => givenUp.resolve({ stopReason: "cancelled" });
    const end = await Promise.race([this.#turn(prompt), givenUp.promise]);
    this.#written.delete(prompt);
    this.#running = undefined;
    this.record("turn-ended", { promptId: prompt.promptId, ...end });
    void this.#pump();
  }

  async #turn(prompt: Prompt): Promise<Record<string, unknown>> {
    try {
      const client = await this.#deps.ready(this);
      if (this.#cancelled || this.#running !== prompt) return { stopReason: "cancelled" };
      this.#client = client;
      this.suppressed = false;
      this.record("turn-started", { promptId: prompt.promptId });
      this.#written.add(prompt);
      this.#turnStartedAt = this.#deps.now();
      this.#deps.changed(this);
      return await client.prompt(this.acpSessionId ?? "", [{ type: "text", text: prompt.text }]);
    } catch (thrown) {
      return turnFailure(thrown, this.options, this.#client);
    }
  }
}
