// What may a client ask of agents and sessions? One verb each.
import type { AgentRequest, AgentSessionInfo, SessionRecord } from "../protocol/agents.ts";
import { Fault } from "../protocol/fault.ts";
import { DISK_FLOOR_BYTES } from "../protocol/settings.ts";
import type { AgentManager } from "./agent-manager.ts";
import type { AgentDefinition } from "./definitions.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { Launcher } from "./launcher.ts";
import { login } from "./login.ts";
import type { Registry } from "./registry.ts";
import type { AgentSession } from "./session.ts";

export interface ServiceClient {
  clientId: string;
  events(session: string, events: SessionRecord[], notice?: string): void;
}

export interface VerbsDeps {
  launcher: Launcher;
  manager: AgentManager;
  registry: Registry;
  watch: IdleWatch;
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

function mustHaveRoom(bytes: number): void {
  if (bytes >= DISK_FLOOR_BYTES) return;
  const left = (bytes / 1024 / 1024).toFixed(1);
  throw new Fault(
    "DISK_FULL",
    `The disk is full: ${left} MiB are left where sessions are kept; make room and try again`,
  );
}

export function createVerbs({ launcher, manager, registry, watch, linger, close, ...deps }: VerbsDeps): Verbs {
  const infoOf = (session: AgentSession): AgentSessionInfo => {
    const { name, agent, cwd } = session.options;
    const { turn, queued } = session.work;
    const { viewers, lastSeq } = session;
    return { kind: "agent", name, agent, cwd, turn, queued, clients: viewers.size, lastSeq, idle: watch.info(session) };
  };
  const detach = (session: AgentSession, clientId: string): boolean => {
    const detached = session.viewers.detach(clientId);
    if (detached && !registry.letGo(session)) watch.unwatched(session);
    return detached;
  };
  const remember = (agent: string, env: Readonly<Record<string, string>>): void => {
    launcher.definition(agent);
    if (!manager.current(agent)) launcher.remember(agent, env);
  };
  const asked = async (client: ServiceClient, request: AgentRequest): Promise<unknown> => {
    const { clientId } = client;
    switch (request.verb) {
      case "prompt": {
        const { agent, cwd, env, promptId, text, policy } = request;
        mustFit(launcher.definition(agent), text);
        mustHaveRoom(deps.freeBytes?.() ?? Number.POSITIVE_INFINITY);
        const again = request.session === undefined ? registry.all().find((each) => each.knows(promptId)) : undefined;
        const session = again ?? registry.obtain(request.session, agent, cwd);
        remember(agent, env);
        const after = session.prompt({ promptId, text, policy, clientId });
        watch.prompted(session, promptId, request.detach);
        return { session: session.options.name, after };
      }
      case "attach": {
        const session = registry.named(request.session);
        if (request.after > session.lastSeq) {
          const message = `Session "${request.session}" has no event ${request.after}; its last one is ${session.lastSeq}`;
          throw new Fault("USAGE", message, { name: request.session });
        }
        session.viewers.attach(clientId, request.after, (events, notice) =>
          client.events(request.session, events, notice),
        );
        watch.attached(session);
        return infoOf(session);
      }
      case "detach":
        return { detached: detach(registry.named(request.session), clientId) };
      case "cancel":
        return { cancelled: registry.named(request.session).cancel(request.promptId) };
      case "withdraw":
        return { withdrawn: registry.named(request.session).withdraw(request.promptId) };
      case "answer":
        registry.named(request.session).answer(request.permissionId, request.optionId, clientId);
        return {};
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
        return registry.shelved();
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
