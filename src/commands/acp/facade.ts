// What does an editor ask of an ACP agent, and how does a bridge session answer? One method each.
import { promptText } from "../../core/prompt-text.ts";
import type { Clock } from "../../platform/world.ts";
import { isOpenedSession } from "../../protocol/agent-answers.ts";
import type { OpenedSession } from "../../protocol/agents.ts";
import { messageOf } from "../../protocol/fault.ts";
import { isRecord, isText, listOf } from "../../protocol/guards.ts";
import { ACP_VERSION, RPC, type RpcId } from "../../protocol/json-rpc.ts";
import { VERSION } from "../../protocol/version.ts";
import { SESSION_NAME } from "../../protocol/vocabulary.ts";
import { createRpcPeer, RpcFailure, type RpcPeer } from "../../rpc/json-rpc.ts";
import { understood } from "../agent-list.ts";
import { createEditorSession, type EditorSession, type EditorSessionDeps } from "./editor-session.ts";
import { noSession, rpcFailure, wrong } from "./failures.ts";
import { type ListedSession, listPage } from "./session-list.ts";

export interface FacadeDeps extends Omit<EditorSessionDeps, "name" | "cwd" | "peer"> {
  clock: Clock;
  /** What the first new session is called; one that is there goes on. */
  wantedName: string | undefined;
  absolute(path: string): string;
  /** Of this agent. */
  sessions(): Promise<ListedSession[]>;
  write(line: string): void;
}

type Params = Record<string, unknown>;

const AGENT_LETTERS = 40;
const ID_LETTERS = 8;

const CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: false, audio: false, embeddedContext: true },
  // Whether the agent takes others is known only when it runs.
  mcpCapabilities: { http: false, sse: false },
  sessionCapabilities: { list: {}, resume: {}, close: {} },
};

const textIn = (params: Params, key: string): string => {
  const value = params[key];
  if (isText(value) && value !== "") return value;
  throw wrong(`"${key}" is no text`);
};

const offers = ({ modes, configOptions }: OpenedSession): Params => ({
  ...(modes === undefined ? {} : { modes }),
  ...(configOptions === undefined ? {} : { configOptions }),
});

/** What to say of a line that is no message; undefined: nothing. */
function complaint(line: string): object | undefined {
  const error = (code: number, message: string) => ({ jsonrpc: "2.0", id: null, error: { code, message } });
  try {
    return isRecord(JSON.parse(line)) ? undefined : error(RPC.invalidRequest, "A message is one JSON object");
  } catch {
    return error(RPC.parse, "This line is no JSON");
  }
}

export function createAcpFacade(deps: FacadeDeps): Pick<RpcPeer, "receive" | "end"> {
  const { agent, env, clock, ask } = deps;
  const sessions = new Map<string, EditorSession>();
  let { wantedName } = deps;
  let isInitialized = false;
  let showsNotices = false;

  const opened = (params: Params): EditorSession => {
    const sessionId = textIn(params, "sessionId");
    const found = sessions.get(sessionId);
    if (!found) throw noSession(sessionId);
    return found;
  };
  const open = async (name: string, params: Params, create: boolean) => {
    const path = textIn(params, "cwd");
    if (!path.startsWith("/")) throw wrong(`"cwd" is "${path}"; it must be an absolute path`);
    const cwd = deps.absolute(path);
    const { mcpServers = [] } = params;
    if (!listOf(isRecord)(mcpServers)) throw wrong('"mcpServers" is no list of servers');
    const answer = await ask({ verb: "open", agent, session: name, cwd, create, mcpServers, env });
    const known = understood(isOpenedSession, answer);
    const session = sessions.get(name) ?? createEditorSession({ ...deps, name, cwd, peer }, showsNotices);
    return { known, session, isHere: sessions.has(name) };
  };
  const reopen = (params: Params) => {
    const name = textIn(params, "sessionId");
    if (!SESSION_NAME.pattern.test(name)) throw noSession(name);
    return open(name, params, false);
  };
  /** Behind the answer, which must be the first to name the session. */
  const afterAnswer = (run: () => void): void => void clock.after(0, run);
  const begin = async (session: EditorSession, after: number, known: OpenedSession): Promise<void> => {
    await session.place(after, known.lastSeq);
    sessions.set(known.session, session);
    afterAnswer(() => {
      session.follow().catch((thrown) => deps.note(messageOf(thrown)));
      session.askAll(known.permissions);
    });
  };

  const methods: Readonly<Record<string, (params: Params, key: string) => unknown>> = {
    initialize(params) {
      if (!Number.isInteger(params["protocolVersion"])) throw wrong('"protocolVersion" is no whole number');
      const { clientCapabilities } = params;
      const client = isRecord(clientCapabilities) ? clientCapabilities["session"] : undefined;
      showsNotices = isRecord(client) && isRecord(client["notices"]);
      isInitialized = true;
      return {
        protocolVersion: ACP_VERSION,
        agentInfo: { name: `holdfast-${agent}`, title: `${agent} (holdfast)`, version: VERSION },
        agentCapabilities: CAPABILITIES,
        authMethods: [],
      };
    },
    async "session/new"(params) {
      const name = wantedName ?? `${agent.slice(0, AGENT_LETTERS)}-${deps.newId().slice(0, ID_LETTERS)}`;
      const { known, session } = await open(name, params, true);
      if (name === wantedName) wantedName = undefined;
      await begin(session, 0, known);
      return { sessionId: name, ...offers(known) };
    },
    async "session/load"(params) {
      const { known, session } = await reopen(params);
      await session.place(0, known.lastSeq);
      await session.follow();
      sessions.set(known.session, session);
      afterAnswer(() => session.askAll(known.permissions));
      return offers(known);
    },
    async "session/resume"(params) {
      const { known, session, isHere } = await reopen(params);
      if (!isHere) await begin(session, known.lastSeq, known);
      return offers(known);
    },
    async "session/list"(params) {
      const { cwd, cursor } = params;
      const page = listPage(await deps.sessions(), isText(cwd) ? deps.absolute(cwd) : undefined, cursor);
      if (!page) throw wrong(`"cursor" is none of ours`);
      return page;
    },
    async "session/close"(params) {
      await opened(params).close();
      sessions.delete(textIn(params, "sessionId"));
    },
    async "session/set_mode"(params) {
      const session = textIn(params, "sessionId");
      opened(params);
      return await ask({ verb: "set", session, modeId: textIn(params, "modeId") });
    },
    async "session/set_config_option"(params) {
      const session = textIn(params, "sessionId");
      opened(params);
      const { value } = params;
      if (!isText(value) && typeof value !== "boolean") throw wrong('"value" is neither text nor true or false');
      return await ask({ verb: "set-option", session, configId: textIn(params, "configId"), value });
    },
    async "session/prompt"(params, key) {
      const session = opened(params);
      const prompt = promptText(params["prompt"]);
      if (prompt.kind === "wrong") throw wrong(prompt.message);
      return await session.prompt(prompt.text, key);
    },
  };

  const answer = async (method: string, params: unknown, id: RpcId): Promise<unknown> => {
    try {
      if (!isInitialized && method !== "initialize")
        throw new RpcFailure({ code: RPC.invalidRequest, message: "The first request must be initialize" });
      if (!isRecord(params ?? {})) throw wrong("The parameters are no object");
      return (await methods[method]?.((params ?? {}) as Params, JSON.stringify(id))) ?? {};
    } catch (thrown) {
      throw rpcFailure(thrown);
    }
  };

  const peer: RpcPeer = createRpcPeer(clock, deps.write, {
    request: (method, params, id) => (Object.hasOwn(methods, method) ? answer(method, params, id) : undefined),
    notification(method, params) {
      if (!isRecord(params)) return;
      const noted = (work: Promise<void> | undefined) => work?.catch((thrown) => deps.note(messageOf(thrown)));
      if (method === "session/cancel") noted(sessions.get(String(params["sessionId"]))?.cancel());
      if (method !== "$/cancel_request") return;
      for (const session of sessions.values()) noted(session.cancel(JSON.stringify(params["requestId"])));
    },
    skipped(line) {
      const said = complaint(line);
      if (said) deps.write(JSON.stringify(said));
    },
  });
  return peer;
}
