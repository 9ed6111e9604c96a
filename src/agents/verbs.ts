// What may a client ask of agents and sessions? One verb each.
import type { AgentRequest, AgentSessionInfo, SessionRecord } from "../protocol/agents.ts";
import { Fault, hostLeaves } from "../protocol/fault.ts";
import { DISK_FLOOR_BYTES } from "../protocol/settings.ts";
import type { AcpClient } from "./acp-client.ts";
import type { AgentManager } from "./agent-manager.ts";
import type { AgentDefinition } from "./definitions.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { Launcher } from "./launcher.ts";
import { login } from "./login.ts";
import { openedSession, setMode, setOption } from "./open-session.ts";
import type { Registry } from "./registry.ts";
import type { AgentSession } from "./session.ts";
import { isDone } from "./session-needs.ts";

export interface ServiceClient {
  clientId: string;
  events(session: string, events: SessionRecord[], notice?: string): void;
}

export interface VerbsDeps {
  launcher: Launcher;
  manager: AgentManager;
  registry: Registry;
  watch: IdleWatch;
  /** The agent with this session open in it. */
  ready(session: AgentSession): Promise<AcpClient>;
  /** Somebody watches it now: where its agent runs, it is restored there. */
  attached(session: AgentSession): void;
  linger(agent: string): void;
  close(session: string): Promise<void>;
  freeBytes?(): number;
}

export interface Verbs {
  asked(client: ServiceClient, request: AgentRequest): Promise<unknown>;
  detach(session: AgentSession, clientId: string): boolean;
  infoOf(session: AgentSession): AgentSessionInfo;
}

function mustFit({ displayName, maxPromptCharacters = Number.POSITIVE_INFINITY }: AgentDefinition, text: string): void {
  if (text.length <= maxPromptCharacters) return;
  const message = `${displayName} takes prompts of ${maxPromptCharacters} characters at most, and this one has ${text.length}; put it into a file and name that`;
  throw new Fault("INVALID_PAYLOAD", message);
}

/** About so much in one answer. */
const READ_BYTES = 200_000;

function mustHaveRoom(bytes: number): void {
  if (bytes >= DISK_FLOOR_BYTES) return;
  const left = (bytes / 1024 / 1024).toFixed(1);
  throw new Fault(
    "DISK_FULL",
    `The disk is full: ${left} MiB are left where sessions are kept; make room and try again`,
  );
}

/** What a person decided is told as done when the next host would know it. */
async function onRecord<Answer>(session: AgentSession, answer: Answer): Promise<Answer> {
  if (await session.written()) return answer;
  throw hostLeaves();
}

export function createVerbs({ launcher, manager, registry, watch, ready, linger, close, ...deps }: VerbsDeps): Verbs {
  const infoOf = (session: AgentSession): AgentSessionInfo => {
    const { name, agent, cwd } = session.options;
    const { turn, queued, promptId } = session.work;
    const { viewers, lastSeq } = session;
    const { title, at: updatedAt } = session.fold;
    const about = {
      ...(title === undefined ? {} : { title }),
      ...(updatedAt === "" ? {} : { updatedAt }),
      ...(promptId === undefined ? {} : { promptId }),
    };
    const clients = viewers.size;
    return { kind: "agent", name, agent, cwd, turn, queued, clients, lastSeq, idle: watch.info(session), ...about };
  };
  const detach = (session: AgentSession, clientId: string): boolean => {
    const detached = session.viewers.detach(clientId);
    if (!detached || registry.letGo(session)) return detached;
    if (isDone(session)) void close(session.options.name);
    else watch.unwatched(session);
    return detached;
  };
  const attach = (client: ServiceClient, session: AgentSession, after: number): void => {
    const { name } = session.options;
    session.viewers.attach(client.clientId, after, (events, notice) => client.events(name, events, notice));
    if (registry.isShelved(name)) return;
    watch.attached(session);
    deps.attached(session);
  };
  const remember = (agent: string, env: Readonly<Record<string, string>>): void => {
    launcher.definition(agent);
    if (!manager.current(agent)) launcher.remember(agent, env);
  };
  const asked = async (client: ServiceClient, request: AgentRequest): Promise<unknown> => {
    const { clientId } = client;
    switch (request.verb) {
      case "prompt": {
        const { agent, cwd, env, promptId, text, policy, closes = false } = request;
        mustFit(launcher.definition(agent), text);
        const again = request.session === undefined ? registry.askedBefore(agent, promptId) : undefined;
        // One that is on record is only told about.
        const isKnown = (again ?? registry.live(request.session ?? ""))?.knows(promptId) === true;
        if (!isKnown) mustHaveRoom(deps.freeBytes?.() ?? Number.POSITIVE_INFINITY);
        if (!isKnown && !manager.current(agent)) launcher.mustBeInstalled(agent, env);
        const session = again ?? registry.obtain(request.session, agent, cwd, promptId);
        remember(agent, env);
        const after = session.prompt({ promptId, text, policy, clientId, closes });
        if (!registry.isShelved(session.options.name)) watch.prompted(session, promptId, request.detach);
        linger(agent);
        const attached = request.attach === true;
        if (attached) attach(client, session, after);
        const said = { ...(attached ? { attached } : {}), ...(closes ? { closes } : {}) };
        return { session: session.options.name, after, ...said };
      }
      case "open": {
        const { agent, cwd, env, mcpServers } = request;
        launcher.definition(agent);
        if (!request.create) registry.named(request.session);
        if (!manager.current(agent)) launcher.mustBeInstalled(agent, env);
        const session = registry.obtain(request.session, agent, cwd);
        if (mcpServers) registry.keepServers(request.session, mcpServers);
        remember(agent, env);
        // One that is there already has its history; its agent is started by the next prompt.
        if (session.acpSessionId === undefined) {
          await ready(session).catch(async (thrown) => {
            // Nobody would look for one that never began.
            if (session.fold.prompts.length === 0) await close(request.session);
            throw thrown;
          });
        }
        return openedSession(session);
      }
      case "set":
        return await setMode(registry.named(request.session), ready, request.modeId);
      case "set-option":
        return await setOption(registry.named(request.session), ready, request.configId, request.value);
      case "attach": {
        const session = registry.viewed(request.session);
        if (request.after > session.lastSeq) {
          registry.letGo(session);
          const message = `Session "${request.session}" has no event ${request.after}; its last one is ${session.lastSeq}`;
          throw new Fault("USAGE", message, { name: request.session });
        }
        attach(client, session, request.after);
        return infoOf(session);
      }
      case "read": {
        const session = registry.viewed(request.session);
        const events = session.viewers.read(request.after, request.count, READ_BYTES);
        const info = infoOf(session);
        registry.letGo(session);
        return { ...info, events };
      }
      case "detach": {
        // Not by its name, which would bring back one that is closed.
        const session = registry.live(request.session);
        return { detached: session !== undefined && detach(session, clientId) };
      }
      case "cancel": {
        const session = registry.named(request.session);
        return await onRecord(session, { cancelled: session.cancel(request.promptId) });
      }
      case "withdraw": {
        const session = registry.named(request.session);
        return await onRecord(session, { withdrawn: session.withdraw(request.promptId) });
      }
      case "answer": {
        const session = registry.named(request.session);
        session.permissions.answer(request.permissionId, request.optionId, clientId);
        return await onRecord(session, {});
      }
      case "close":
        await close(request.session);
        return {};
      case "reconnect":
        remember(request.agent, request.env);
        await manager.reconnect(request.agent);
        return { status: manager.getStatus(request.agent) };
      case "login": {
        remember(request.agent, request.env);
        const answer = await login(await manager.ensureAgent(request.agent), request.agent, request.method);
        return answer.kind === "terminal" ? { ...answer, ...launcher.command(request.agent, answer.args) } : answer;
      }
      case "agents":
        return launcher.infos(manager, request.env);
      case "prune":
        return registry.prune(request);
      case "sessions":
        return registry.all().map(infoOf);
      case "shelf":
        return registry.shelved(request.limit);
      case "keep": {
        const session = registry.named(request.session);
        watch.keep(session, request.forMs);
        linger(session.options.agent);
        return infoOf(session);
      }
    }
  };

  return { asked, detach, infoOf };
}
