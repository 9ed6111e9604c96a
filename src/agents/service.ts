// Who brings agents, sessions and clients together? One service in the host; each request is a verb.
import { createEmitter } from "../core/emitter.ts";
import { RETENTION } from "../core/prune.ts";
import type { AgentRequest, AgentSessionInfo, SessionRecord } from "../protocol/agents.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { IdleLimits } from "../protocol/settings.ts";
import type { AcpClient } from "./acp-client.ts";
import { type AgentEvents, AgentManager } from "./agent-manager.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { createLauncher, type LauncherWorld } from "./launcher.ts";
import { login } from "./login.ts";
import { canClose, createOpener } from "./opener.ts";
import { createRegistry } from "./registry.ts";
import type { AgentSession } from "./session.ts";
import { orLogin } from "./turn-failure.ts";

export interface ServiceClient {
  clientId: string;
  events(session: string, events: SessionRecord[]): void;
}

export interface AgentServiceDeps extends LauncherWorld {
  idleLimits(): IdleLimits;
  /** `company` may be another. */
  companyChanged(): void;
}

export interface AgentService {
  asked(client: ServiceClient, request: AgentRequest): Promise<unknown>;
  acknowledged(clientId: string, session: string, seq: number): void;
  left(clientId: string): void;
  infos(): AgentSessionInfo[];
  /** How many agents are attached to, working or kept. */
  company(): number;
  /** Records nothing any more: the next host may begin. */
  leave(): Promise<void>;
  end(): Promise<void>;
}

const PRUNE_AFTER_MS = 10_000;
const PRUNE_EACH_MS = 24 * 3_600_000;

export function createAgentService(deps: AgentServiceDeps): AgentService {
  const { log } = deps;
  const emitter = createEmitter<AgentEvents>((thrown) => log.warn("A listener threw", { why: messageOf(thrown) }));
  const byAcpId = (agent: string, sessionId: string): AgentSession | undefined =>
    registry.of(agent).find(({ acpSessionId }) => acpSessionId === sessionId);

  const launcher = createLauncher({
    ...deps,
    update(agent, client, sessionId, update, source) {
      const session = byAcpId(agent, sessionId);
      if (session) session.updated(update, source);
      else opener.early(client, sessionId, { update, source });
    },
    async permission(agent, params, permissionId) {
      const session = byAcpId(agent, params.sessionId);
      return session ? await session.permission(params, permissionId) : { outcome: "cancelled" };
    },
    withdrawn(permissionId) {
      for (const session of registry.all()) session.permissionWithdrawn(permissionId);
    },
  });
  const { displayName } = launcher;
  const manager = new AgentManager(emitter, { clock: deps.clock, displayName, start: launcher.start });
  const opener = createOpener();
  const ready = async (session: AgentSession): Promise<AcpClient> => {
    const client = await manager.ensureAgent(session.options.agent);
    return await opener.open(client, session).catch((thrown) => {
      throw orLogin(thrown, session.options, client);
    });
  };
  const leaveAgent = async (session: AgentSession): Promise<void> => {
    const giveUp = session.stop();
    const client = opener.clientOf(session);
    const { acpSessionId } = session;
    if (client && acpSessionId && canClose(client)) {
      // Forgotten before it is closed: a prompt that comes now opens it again, behind the close.
      opener.lost(session, client);
      await client.closeSession(acpSessionId).catch(() => undefined);
    }
    giveUp();
  };
  const watch = createIdleWatch({
    ...deps,
    limits: deps.idleLimits,
    changed: deps.companyChanged,
    sessions: () => registry.all(),
    isRunning: (agent) => manager.current(agent) !== undefined,
    isOpen(session) {
      const client = opener.clientOf(session);
      return client !== undefined && client === manager.current(session.options.agent);
    },
    leaveAgent,
    stopAgent: (agent) => manager.stop(agent),
  });
  const { now, changed } = watch;
  const registry = createRegistry({ ...deps, displayName, ready, now, changed, entered: watch.unwatched });

  emitter.on("error", ({ message, detail }) => log.warn(message, detail === undefined ? {} : { detail }));
  emitter.on("agent:exited", ({ cliType, client, exit, detail }) => {
    for (const session of registry.of(cliType)) {
      if (!opener.lost(session, client)) continue;
      session.record("agent-exited", { ...exit, message: `${displayName(cliType)} exited`, detail });
      session.agentLost();
    }
  });
  emitter.on("agent:connected", ({ cliType, client }) => {
    watch.agentStarted(cliType);
    for (const session of registry.of(cliType)) {
      if (session.acpSessionId === undefined || watch.isStopped(session)) continue;
      opener.open(client, session).catch((thrown) => log.warn(`Not restored: ${messageOf(thrown)}`));
    }
  });

  // Later: whoever takes over has more urgent things to do.
  let cancelPrune = deps.clock.after(PRUNE_AFTER_MS, pruneDaily);
  function pruneDaily(): void {
    try {
      registry.prune(RETENTION);
    } catch (thrown) {
      log.warn(`Old sessions were not removed: ${messageOf(thrown)}`);
    }
    cancelPrune = deps.clock.after(PRUNE_EACH_MS, pruneDaily);
  }

  const close = async (name: string): Promise<void> => {
    const session = registry.named(name);
    await leaveAgent(session);
    // The end of its turn is recorded first.
    await deps.clock.sleep(0);
    session.record("session-closed", {});
    registry.drop(session);
    watch.closed(session);
  };

  const infoOf = (session: AgentSession): AgentSessionInfo => session.info(watch.info(session));
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
        launcher.definition(agent);
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
        session.viewers.attach(clientId, request.after, (events) => client.events(request.session, events));
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
        return infoOf(session);
      }
    }
  };

  return {
    asked,
    acknowledged: (clientId, name, seq) => registry.live(name)?.viewers.acknowledged(clientId, seq),
    left(clientId) {
      for (const session of registry.held()) detach(session, clientId);
    },
    infos: () => registry.all().map(infoOf),
    company: watch.company,
    async leave() {
      watch.end();
      for (const session of registry.held()) session.end();
      // What was recorded last is sent before the goodbye.
      await deps.clock.sleep(0);
    },
    end() {
      cancelPrune();
      watch.end();
      return manager.shutdownAll();
    },
  };
}
