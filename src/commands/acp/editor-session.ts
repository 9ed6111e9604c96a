// What is one session to an editor? It follows the journal by its cursor, so that neither host nor editor need live on.
import type { BridgeConnection } from "../../bridge/connection.ts";
import { createEditorView, type Told, tellEditor } from "../../core/editor-view.ts";
import type { AgentRequest, OpenedSession } from "../../protocol/agents.ts";
import { Fault, messageOf } from "../../protocol/fault.ts";
import { isRecord } from "../../protocol/guards.ts";
import { RPC } from "../../protocol/json-rpc.ts";
import { RpcFailure, type RpcPeer } from "../../rpc/json-rpc.ts";
import { followSession } from "../agent-session.ts";
import { rpcFailure, turnResult } from "./failures.ts";

export interface EditorSessionDeps {
  name: string;
  agent: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  peer: Pick<RpcPeer, "request" | "notify">;
  newId(): string;
  connection(): Promise<BridgeConnection>;
  /** Whoever hosts: asked again until it is answered. */
  ask(request: AgentRequest): Promise<unknown>;
  /** Resolves when the editor has read most of what was said. */
  room(): Promise<void>;
  note(text: string): void;
}

export interface EditorSession {
  /** Behind this record it goes on; up to `replayUntil` is history. */
  place(after: number, replayUntil: number): Promise<void>;
  /** Idempotent; resolves when the history is told. */
  follow(): Promise<void>;
  /** What was asked before we came. */
  askAll(permissions: OpenedSession["permissions"]): void;
  /** Pending for the whole turn. `key` is the editor's own request. */
  prompt(text: string, key: string): Promise<unknown>;
  /** The prompt of this request, or all of this editor's; when it has none, the turn that runs. */
  cancel(key?: string): Promise<void>;
  /** Ends the session in the bridge, too. */
  close(): Promise<void>;
}

interface OwnPrompt {
  key: string;
  ended(end: Record<string, unknown>): void;
  failed(error: Error): void;
}

export function createEditorSession(deps: EditorSessionDeps, showsNotices: boolean): EditorSession {
  const { name: session, agent, cwd, env, peer, ask } = deps;
  const view = createEditorView(showsNotices, 0);
  const prompts = new Map<string, OwnPrompt>();
  const questions = new Map<string, AbortController>();
  let cursor = 0;
  let following: { abort: AbortController; replayed: Promise<void> } | undefined;

  const askEditor = async (permissionId: string, toolCall: unknown, options: unknown): Promise<void> => {
    if (questions.has(permissionId)) return;
    const over = new AbortController();
    questions.set(permissionId, over);
    const params = { sessionId: session, toolCall, options };
    const answer = await peer
      .request("session/request_permission", params, { signal: over.signal })
      .catch((thrown) => (thrown instanceof RpcFailure && thrown.code !== RPC.cancelled ? {} : undefined));
    questions.delete(permissionId);
    // Somebody else was first, or the editor is gone: then others may still be asked.
    if (over.signal.aborted || answer === undefined) return;
    const outcome = isRecord(answer) && isRecord(answer["outcome"]) ? answer["outcome"] : {};
    const optionId = outcome["outcome"] === "selected" ? String(outcome["optionId"]) : null;
    await ask({ verb: "answer", session, permissionId, optionId }).catch((thrown) => deps.note(messageOf(thrown)));
  };

  const act = (told: Told): void => {
    switch (told.kind) {
      case "update":
        return peer.notify("session/update", { ...told.beside, sessionId: session, update: told.update });
      case "asked":
        return void askEditor(told.permissionId, told.toolCall, told.options);
      case "answered":
        return questions.get(told.permissionId)?.abort();
      case "ended":
        prompts.get(told.promptId)?.ended(told.end);
        prompts.delete(told.promptId);
    }
  };

  const lost = (thrown: unknown): void => {
    for (const { failed } of prompts.values()) failed(rpcFailure(thrown));
    prompts.clear();
  };

  const leave = async (): Promise<void> => {
    if (!following) return;
    following.abort.abort(new Fault("REFUSED", "The session is closed here"));
    following = undefined;
    // Answered behind the last event of ours: none of it is taken for one of the next time.
    await ask({ verb: "detach", session }).catch((thrown) => deps.note(messageOf(thrown)));
  };

  const place = async (after: number, replayUntil: number): Promise<void> => {
    await leave();
    cursor = after;
    view.replayUntil = replayUntil;
    view.texts.clear();
  };

  const follow = (): Promise<void> => {
    if (following) return following.replayed;
    const { promise: replayed, resolve, reject } = Promise.withResolvers<void>();
    const over = { abort: new AbortController(), replayed };
    following = over;
    if (cursor >= view.replayUntil) resolve();
    const run = async (): Promise<void> => {
      const connection = await deps.connection();
      for await (const record of followSession(connection, session, cursor, deps.note, over.abort.signal)) {
        if (following !== over) return;
        cursor = record.seq;
        for (const told of tellEditor(view, record)) act(told);
        if (cursor >= view.replayUntil) resolve();
        await deps.room();
      }
    };
    run().catch((thrown) => {
      reject(thrown);
      if (following !== over) return;
      following = undefined;
      lost(thrown);
    });
    return replayed;
  };

  const cancelPrompt = async (promptId: string): Promise<void> =>
    void (await ask({ verb: "cancel", session, promptId }));

  return {
    place,
    follow,
    askAll(permissions) {
      for (const { permissionId, toolCall, options } of permissions) void askEditor(permissionId, toolCall, options);
    },
    async prompt(text, key) {
      await follow();
      const promptId = deps.newId();
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
      prompts.set(promptId, { key, ended: resolve, failed: reject });
      view.own.add(promptId);
      try {
        // Detached: the turn is kept although the editor may leave.
        const policy = "ask" as const;
        await ask({ verb: "prompt", agent, session, cwd, text, policy, promptId, detach: true, env });
      } catch (thrown) {
        prompts.delete(promptId);
        throw thrown;
      }
      return turnResult(await promise);
    },
    async cancel(key) {
      const own = [...prompts].filter(([, prompt]) => key === undefined || prompt.key === key);
      if (own.length === 0 && key === undefined) await ask({ verb: "cancel", session });
      // The last one first, or the next in the queue would begin.
      for (const [promptId] of own.reverse()) await cancelPrompt(promptId);
    },
    async close() {
      await leave();
      await ask({ verb: "close", session });
      for (const { ended } of prompts.values()) ended({ stopReason: "cancelled" });
      for (const over of questions.values()) over.abort();
      prompts.clear();
    },
  };
}
