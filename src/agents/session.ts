// What is a conversation with an agent? Prompts one after the other, a journal of all that was said, any number of viewers.
import type { IdleState } from "../core/idle-guards.ts";
import { decidePermission } from "../core/permission.ts";
import type { Clock } from "../platform/world.ts";
import type { PermissionOutcome, PermissionParams } from "../protocol/acp.ts";
import type { AgentSessionInfo, Policy } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";
import type { Journal, Source } from "./journal.ts";
import { createScribe, type Scribe } from "./scribe.ts";
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

interface Asked {
  params: PermissionParams;
  settle(outcome: PermissionOutcome): void;
}

export interface Work extends Omit<IdleState, "pin"> {
  turn: "idle" | "running" | "waiting";
}

const OPEN_STATES: ReadonlySet<unknown> = new Set(["pending", "in_progress"]);

export class AgentSession {
  readonly options: SessionOptions;
  readonly viewers: Viewers;
  readonly #deps: SessionDeps;
  readonly #scribe: Scribe;
  readonly #queue: Prompt[] = [];
  readonly #written = new Set<Prompt>();
  readonly #known = new Set<string>();
  readonly #permissions = new Map<string, Asked>();
  readonly #toolCalls = new Set<string>();
  /** The agent's own name for this session, once it has one. */
  acpSessionId: string | undefined;
  #running: Prompt | undefined;
  #client: AcpClient | undefined;
  #cancelled = false;
  #giveUp: () => void = () => {};
  #suppressed = false;
  #turnStartedAt = 0;
  #lastOutputAt: number;

  constructor(options: SessionOptions, deps: SessionDeps) {
    this.options = options;
    this.#deps = deps;
    this.#lastOutputAt = deps.now();
    this.viewers = createViewers(deps.journal);
    this.#scribe = createScribe(deps.clock, deps.journal, this.viewers.wake);
  }

  get work(): Work {
    const waiting = this.#permissions.size > 0;
    return {
      turn: waiting ? "waiting" : this.#running ? "running" : "idle",
      queued: this.#queue.length,
      outstanding: this.#written.size,
      permissions: this.#permissions.size,
      turnStartedAt: this.#turnStartedAt,
      lastOutputAt: this.#lastOutputAt,
      openToolCalls: this.#toolCalls.size,
    };
  }

  get lastSeq(): number {
    return this.#deps.journal.lastSeq;
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
  remember(promptIds: readonly string[]): void {
    for (const promptId of promptIds) this.#known.add(promptId);
  }

  /** Under an id that is known already nothing is sent again. */
  prompt(prompt: Prompt): void {
    if (this.#known.has(prompt.promptId)) return;
    this.#scribe.mustWrite();
    this.#known.add(prompt.promptId);
    this.#queue.push(prompt);
    const { promptId, text, policy, clientId } = prompt;
    this.record("prompt", { promptId, text, policy, clientId, queued: this.#queue.length });
    void this.#pump();
  }

  withdraw(promptId: string): boolean {
    const index = this.#queue.findIndex((prompt) => prompt.promptId === promptId);
    if (index < 0) return false;
    this.#queue.splice(index, 1);
    this.record("withdrawn", { promptId });
    this.record("turn-ended", { promptId, stopReason: "cancelled" });
    return true;
  }

  cancel(promptId?: string): boolean {
    if (promptId !== undefined && this.#running?.promptId !== promptId) return this.withdraw(promptId);
    if (!this.#running && this.#toolCalls.size === 0) return false;
    this.#cancelled = true;
    if (this.acpSessionId) this.#client?.cancel(this.acpSessionId);
    for (const permissionId of [...this.#permissions.keys()])
      this.#settle(permissionId, { outcome: "cancelled" }, "cancel");
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
    const asked = this.#permissions.get(permissionId);
    if (!asked) throw new Fault("REFUSED", `The permission request "${permissionId}" is answered already`);
    const option = asked.params.options.find((each) => each.optionId === optionId);
    if (!option) {
      const right = asked.params.options.map((each) => each.optionId).join(", ");
      throw new Fault("USAGE", `There is no option "${optionId}"; there are: ${right}`);
    }
    this.#settle(permissionId, { outcome: "selected", optionId }, by);
  }

  /** While a session is loaded, its replay is history that the journal has. */
  suppress(on: boolean): void {
    this.#suppressed = on;
  }

  updated(update: Record<string, unknown>, source?: Source): void {
    this.#lastOutputAt = this.#deps.now();
    if (this.#suppressed) return;
    const { toolCallId, status } = update;
    if (typeof toolCallId === "string") {
      if (OPEN_STATES.has(status)) this.#toolCalls.add(toolCallId);
      else if (status !== undefined && status !== null) this.#toolCalls.delete(toolCallId);
    }
    this.record("update", { update }, source);
  }

  permission(params: PermissionParams, permissionId: string): Promise<PermissionOutcome> {
    this.#lastOutputAt = this.#deps.now();
    const policy = this.#running?.policy ?? "deny";
    const decision = decidePermission(policy, params.toolCall.kind, params.options);
    const { toolCall, options } = params;
    this.record("permission-requested", { permissionId, toolCall, options, policy });
    const { promise, resolve } = Promise.withResolvers<PermissionOutcome>();
    this.#permissions.set(permissionId, { params, settle: resolve });
    if (decision.kind === "select") {
      this.#settle(permissionId, { outcome: "selected", optionId: decision.optionId }, "policy");
    } else if (decision.kind === "cancel") this.#settle(permissionId, { outcome: "cancelled" }, "policy");
    else this.#deps.changed(this);
    return promise;
  }

  permissionWithdrawn(permissionId: string): void {
    if (this.#permissions.has(permissionId)) this.#settle(permissionId, { outcome: "cancelled" }, "agent");
  }

  /** The process is gone: nobody waits for its answers any more. */
  agentLost(): void {
    this.#client = undefined;
    this.#toolCalls.clear();
    for (const permissionId of [...this.#permissions.keys()])
      this.#settle(permissionId, { outcome: "cancelled" }, "agent");
  }

  #settle(permissionId: string, outcome: PermissionOutcome, by: string): void {
    const asked = this.#permissions.get(permissionId);
    this.#permissions.delete(permissionId);
    // Its silence while it waited for a person was no silence of its own.
    this.#lastOutputAt = this.#deps.now();
    asked?.settle(outcome);
    this.record("permission-resolved", { permissionId, ...outcome, by });
    this.#deps.changed(this);
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    const prompt = this.#queue.shift();
    if (!prompt) return this.#deps.changed(this);
    this.#running = prompt;
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
      this.suppress(false);
      this.record("turn-started", { promptId: prompt.promptId });
      this.#written.add(prompt);
      this.#turnStartedAt = this.#deps.now();
      this.#deps.changed(this);
      return await client.prompt(this.acpSessionId ?? "", [{ type: "text", text: prompt.text }]);
    } catch (thrown) {
      return turnFailure(thrown, this.options);
    }
  }
}
