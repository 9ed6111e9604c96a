// Is there an agent without a network? A real ACP v1 agent that does what its prompt says, and remembers its conversations.
import type { Clock } from "../../platform/world.ts";
import { ACP_VERSION, RPC } from "../../protocol/json-rpc.ts";
import { VERSION } from "../../protocol/version.ts";
import { createRpcPeer, RpcFailure, type RpcPeer } from "../../rpc/json-rpc.ts";
import { readScript } from "./script.ts";
import type { Conversation, ConversationStore } from "./store.ts";
import { type ShellRun, takeTurn } from "./turn.ts";

export interface DemoAgentDeps {
  clock: Clock;
  newId(): string;
  store: ConversationStore;
  write(line: string): void;
  shell(command: string, cwd: string): ShellRun;
  die(code: number): void;
}

const OPTIONS = [
  { optionId: "yes", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject", kind: "reject_always" },
];

type Params = Record<string, unknown>;

const fail = (code: number, message: string): never => {
  throw new RpcFailure({ code, message });
};
const textOf = (prompt: unknown): string =>
  Array.isArray(prompt) ? prompt.map((block) => (block?.type === "text" ? String(block.text) : "")).join("") : "";

export function createDemoAgent(deps: DemoAgentDeps): Pick<RpcPeer, "receive" | "end"> {
  const { clock, newId, store, write } = deps;
  const open = new Map<string, Conversation>();
  const turns = new Map<string, AbortController>();

  const update = (sessionId: string, said: Params): void => peer.notify("session/update", { sessionId, update: said });
  const opened = (params: Params): Conversation => {
    const sessionId = String(params["sessionId"]);
    return open.get(sessionId) ?? fail(RPC.notFound, `Session not found: ${sessionId}`);
  };
  const reopen = (params: Params): Conversation => {
    const sessionId = String(params["sessionId"]);
    const found = store.read(sessionId) ?? fail(RPC.notFound, `Session not found: ${sessionId}`);
    open.set(sessionId, found);
    return found;
  };
  const chunk = (kind: string, text: string) => ({ sessionUpdate: kind, content: { type: "text", text } });

  const prompt = async (params: Params): Promise<unknown> => {
    const conversation = opened(params);
    const { sessionId } = conversation;
    if (turns.has(sessionId)) fail(RPC.invalidRequest, "A turn is in progress in this session");
    const over = new AbortController();
    turns.set(sessionId, over);
    const user = textOf(params["prompt"]);
    const earlier = conversation.turns.map((each) => each.user);
    const turn = { user, agent: "" };
    conversation.turns.push(turn);
    store.keep(sessionId, { at: clock.iso(), user });
    try {
      turn.agent = await takeTurn(readScript(user, earlier), conversation.turns.length, {
        clock,
        signal: over.signal,
        newId,
        update: (said) => update(sessionId, said),
        raw: write,
        shell: (command) => deps.shell(command, conversation.cwd),
        die: deps.die,
        async ask(toolCall) {
          const answer = await peer.request("session/request_permission", { sessionId, toolCall, options: OPTIONS });
          const { outcome } = answer as { outcome: { outcome: string; optionId?: string } };
          if (outcome.outcome === "cancelled") over.abort();
          return OPTIONS.find(({ optionId }) => optionId === outcome.optionId)?.kind;
        },
      });
      store.keep(sessionId, { at: clock.iso(), agent: turn.agent });
      return { stopReason: over.signal.aborted ? "cancelled" : "end_turn" };
    } finally {
      turns.delete(sessionId);
    }
  };

  const methods: Readonly<Record<string, (params: Params) => unknown>> = {
    initialize: () => ({
      protocolVersion: ACP_VERSION,
      agentInfo: { name: "holdfast-demo", title: "Demo", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    }),
    "session/new"(params) {
      const cwd = String(params["cwd"]);
      const at = clock.iso();
      const conversation: Conversation = { sessionId: newId(), cwd, turns: [], updatedAt: at };
      open.set(conversation.sessionId, conversation);
      store.keep(conversation.sessionId, { at, cwd });
      return { sessionId: conversation.sessionId };
    },
    "session/load"(params) {
      const { sessionId, turns: past } = reopen(params);
      for (const { user, agent } of past) {
        update(sessionId, chunk("user_message_chunk", user));
        if (agent) update(sessionId, chunk("agent_message_chunk", agent));
      }
      return {};
    },
    "session/resume": (params) => void reopen(params),
    "session/list": ({ cwd: wanted }) => ({
      sessions: store
        .list()
        .filter(({ cwd }) => typeof wanted !== "string" || cwd === wanted)
        .map(({ sessionId, cwd, updatedAt }) => ({ sessionId, cwd, updatedAt })),
    }),
    "session/close"(params) {
      const { sessionId } = opened(params);
      turns.get(sessionId)?.abort();
      open.delete(sessionId);
      store.close(sessionId);
    },
    "session/delete": (params) => store.remove(String(params["sessionId"])),
    "session/prompt": prompt,
  };

  const peer: RpcPeer = createRpcPeer(clock, write, {
    request(method, params) {
      const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!handler) return undefined;
      return (async () => (await handler((params ?? {}) as Params)) ?? {})();
    },
    notification(method, params) {
      if (method === "session/cancel") turns.get(String((params as Params)["sessionId"]))?.abort();
    },
  });
  return {
    receive: peer.receive,
    end(reason) {
      for (const turn of turns.values()) turn.abort();
      peer.end(reason);
    },
  };
}
