// How is one agent process spoken to? ACP v1 over its lines; what we do not know is passed on as it came.
import type { Clock } from "../platform/world.ts";
import {
  ACP_VERSION,
  InitializeResult,
  isUpdateParams,
  NewSessionResult,
  type PermissionOutcome,
  PermissionParams,
  PromptResult,
  RPC,
} from "../protocol/acp.ts";
import type { RpcId } from "../protocol/json-rpc.ts";
import { VERSION } from "../protocol/version.ts";
import { createRpcPeer, type OpenQuestion, type PeerStart, RpcFailure, type RpcPeer } from "../rpc/json-rpc.ts";
import type { Source } from "./journal.ts";

export interface AcpEvents {
  /** Any update, at any time, also of sessions that nobody knows yet. */
  update(sessionId: string, update: Record<string, unknown>, beside?: Record<string, unknown>): void;
  permission(params: PermissionParams, requestId: string): Promise<PermissionOutcome>;
  /** The agent takes a request of its own back, by its id alone. */
  withdrawn(requestId: string): void;
}

/** What an earlier host knew of this process. */
export interface AcpStart extends PeerStart {
  initialized?: InitializeResult | undefined;
  /** What was heard last. */
  position?(): Source | undefined;
}

/** Prompts are asked for by their id: whoever hosts, each is sent once; and once more where the agent refused it. */
export const promptKey = (promptId: string, again = false): string => `prompt ${promptId}${again ? " again" : ""}`;

/** Another one each time it is used: an agent may count anew, and a question that was answered says nothing of the next. */
const requestIdOf = (id: RpcId, at: number | undefined): string =>
  at === undefined ? JSON.stringify(id) : `${JSON.stringify(id)}@${at}`;

export interface SessionParams {
  cwd: string;
  mcpServers: unknown[];
}

/** These only: agents use their own tools, and a host that dies must not be in the middle of them. */
const CAPABILITIES = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
const INITIALIZE_MS = 30_000;
const SESSION_MS = 60_000;
const CLOSE_MS = 5_000;

/** So long an agent may take to end what was given up. */
const LATE_MS = 5_000;

export class AcpClient {
  readonly #peer: RpcPeer;
  readonly #events: AcpEvents;
  /** Which life of the agent this is, and the line that was heard last. */
  readonly position: () => Source | undefined;
  #initialized: InitializeResult | undefined;
  #skipped = 0;

  readonly #clock: Clock;

  constructor(clock: Clock, write: (line: string, key?: string) => void, events: AcpEvents, start: AcpStart = {}) {
    this.#clock = clock;
    this.#events = events;
    this.position = start.position ?? (() => undefined);
    this.#initialized = start.initialized;
    this.#peer = createRpcPeer(
      clock,
      write,
      {
        request: (method, params, id, at) => this.#asked(method, params, requestIdOf(id, at)),
        notification: (method, params) => this.#told(method, params),
        skipped: () => {
          this.#skipped++;
        },
      },
      { ...start, at: () => this.position()?.offset },
    );
  }

  /** Lines that were no answer, request or notification. */
  get skipped(): number {
    return this.#skipped;
  }

  get initialized(): InitializeResult | undefined {
    return this.#initialized;
  }

  receive(line: string): void {
    this.#peer.receive(line);
  }

  /** The process or the pipe is gone: everything pending rejects now. */
  end(reason: Error): void {
    this.#peer.end(reason);
  }

  /** What the next host must know of this conversation. */
  get open(): RpcPeer["open"] {
    return this.#peer.open;
  }

  askedBefore(question: OpenQuestion): void {
    this.#peer.askedBefore(question);
  }

  giveUp(keys: readonly string[], reason: Error): void {
    this.#peer.giveUp(keys, reason);
  }

  /** Before a turn: what was given up may run all the same. It is ended, so that its words stand in no later turn. */
  async endGivenUp(sessionId: string): Promise<void> {
    const { late } = this.#peer;
    if (!late) return;
    this.cancel(sessionId);
    const over = new AbortController();
    await Promise.race([late, this.#clock.sleep(LATE_MS, over.signal)]);
    over.abort();
  }

  async initialize(): Promise<InitializeResult> {
    if (this.#initialized) return this.#initialized;
    const params = {
      protocolVersion: ACP_VERSION,
      clientInfo: { name: "holdfast", title: "holdfast", version: VERSION },
      clientCapabilities: CAPABILITIES,
    };
    const result = InitializeResult.parse(
      await this.#peer.request("initialize", params, { timeoutMs: INITIALIZE_MS, key: "initialize" }),
    );
    if (result.protocolVersion !== ACP_VERSION) {
      throw new Error(`The agent speaks ACP ${result.protocolVersion}, this is ACP ${ACP_VERSION}`);
    }
    this.#initialized = result;
    return result;
  }

  /** Under the same key one session, whoever hosts. */
  async newSession(params: SessionParams, key?: string): Promise<{ sessionId: string } & Record<string, unknown>> {
    const options = { timeoutMs: SESSION_MS, ...(key === undefined ? {} : { key }) };
    return NewSessionResult.parse(await this.#peer.request("session/new", params, options));
  }

  loadSession(params: SessionParams & { sessionId: string }): Promise<unknown> {
    return this.#peer.request("session/load", params, { timeoutMs: SESSION_MS });
  }

  resumeSession(params: SessionParams & { sessionId: string }): Promise<unknown> {
    return this.#peer.request("session/resume", params, { timeoutMs: SESSION_MS });
  }

  listSessions(params: { cwd?: string; cursor?: string } = {}): Promise<unknown> {
    return this.#peer.request("session/list", params, { timeoutMs: SESSION_MS });
  }

  closeSession(sessionId: string): Promise<unknown> {
    return this.#peer.request("session/close", { sessionId }, { timeoutMs: CLOSE_MS });
  }

  /** Pending for the whole turn, however long it takes. */
  async prompt(
    sessionId: string,
    prompt: readonly unknown[],
    promptId?: string,
    again = false,
  ): Promise<{ stopReason: string }> {
    const options = promptId === undefined ? {} : { key: promptKey(promptId, again), once: true };
    return PromptResult.parse(await this.#peer.request("session/prompt", { sessionId, prompt }, options));
  }

  /** The end of a turn that an earlier host began; undefined when it did not get to that. */
  resumed(promptId: string, again = false): Promise<{ stopReason: string }> | undefined {
    return this.#peer.claim(promptKey(promptId, again))?.then((result) => PromptResult.parse(result));
  }

  cancel(sessionId: string): void {
    this.#peer.notify("session/cancel", { sessionId });
  }

  setMode(sessionId: string, modeId: string): Promise<unknown> {
    return this.#peer.request("session/set_mode", { sessionId, modeId }, { timeoutMs: SESSION_MS });
  }

  setConfigOption(sessionId: string, configId: string, value: string | boolean): Promise<unknown> {
    const typed = typeof value === "boolean" ? { type: "boolean", value } : { value };
    return this.#peer.request(
      "session/set_config_option",
      { sessionId, configId, ...typed },
      { timeoutMs: SESSION_MS },
    );
  }

  authenticate(methodId: string, timeoutMs: number): Promise<unknown> {
    return this.#peer.request("authenticate", { methodId }, { timeoutMs });
  }

  #asked(method: string, params: unknown, requestId: string): Promise<unknown> | undefined {
    if (method !== "session/request_permission") return undefined;
    return this.#permission(params, requestId);
  }

  async #permission(params: unknown, requestId: string): Promise<unknown> {
    const asked = PermissionParams.safeParse(params);
    if (!asked.success) throw new RpcFailure({ code: RPC.invalidParams, message: "Invalid params" });
    return { outcome: await this.#events.permission(asked.data, requestId) };
  }

  #told(method: string, params: unknown): void {
    if (method === "session/update") {
      if (!isUpdateParams(params)) this.#skipped++;
      else {
        const { sessionId, update, ...beside } = params;
        this.#events.update(sessionId, update, beside);
      }
    }
    if (method === "$/cancel_request" && typeof params === "object" && params !== null && "requestId" in params) {
      this.#events.withdrawn(JSON.stringify(params.requestId));
    }
  }
}
