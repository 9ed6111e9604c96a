// Who brings agents, sessions and clients together? One service in the host; each request is a verb.
import { createEmitter } from "../core/emitter.ts";
import { heardUpTo } from "../core/heard.ts";
import { retentionOf } from "../core/prune.ts";
import { hostLeaves, messageOf } from "../protocol/fault.ts";
import type { AcpClient } from "./acp-client.ts";
import { startAdoption } from "./adoption.ts";
import { AgentManager } from "./agent-manager.ts";
import type { AgentEvents } from "./agent-slot.ts";
import { awakeFile } from "./awake-time.ts";
import { pruneDaily } from "./daily-prune.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { createLauncher } from "./launcher.ts";
import { createLingers } from "./lingers.ts";
import { createOpener } from "./opener.ts";
import { createRegistry } from "./registry.ts";
import { createRestorer } from "./restorer.ts";
import type { AgentService, AgentServiceDeps } from "./service-needs.ts";
import type { AgentSession } from "./session.ts";
import { hasNothingToDo, isDone } from "./session-needs.ts";
import { orLogin } from "./turn-failure.ts";
import { createVerbs } from "./verbs.ts";

export function createAgentService(deps: AgentServiceDeps): AgentService {
  const { log } = deps;
  const emitter = createEmitter<AgentEvents>((thrown) => log.warn("A listener threw", { why: messageOf(thrown) }));
  const byAcpId = (agent: string, sessionId: string): AgentSession | undefined => {
    const find = () => registry.of(agent).find(({ acpSessionId }) => acpSessionId === sessionId);
    const found = find();
    if (!found) registry.waiting.wake();
    return found ?? find();
  };

  let hasLeft = false;
  /** Ended by this host although it leaves: without work when the journals were closed, and nobody stands in line. */
  let toEnd: readonly string[] = [];
  const isWritten = (agent: string): boolean =>
    registry.held().every(({ options, isBehind }) => options.agent !== agent || !isBehind);

  const launcher = createLauncher({
    ...deps,
    update(agent, client, sessionId, said) {
      const session = byAcpId(agent, sessionId);
      if (session) session.updated(said);
      else opener.early(client, sessionId, said);
    },
    async permission(agent, params, permissionId) {
      const session = byAcpId(agent, params.sessionId);
      return session ? await session.permission(params, permissionId) : { outcome: "cancelled" };
    },
    withdrawn(permissionId) {
      for (const session of registry.all()) session.permissions.cancel("agent", permissionId);
    },
    notice(agent, text) {
      log.warn(text);
      for (const session of registry.of(agent)) session.viewers.notice(text);
    },
    torn: (agent, client) => startAgain(agent, client, "its output ends in the middle of a line"),
    full(agent, client) {
      const isBusy = client.open.requests.length > 0 || !registry.of(agent).every(hasNothingToDo);
      if (hasLeft || isBusy || !isWritten(agent)) return;
      startAgain(agent, client, "the room that its output takes cannot be given back");
    },
    // A host that leaves hears still, and writes nothing down any more.
    isWritten: (agent) => !hasLeft && isWritten(agent),
    onRecord(agent, sessionId, run) {
      const fold = byAcpId(agent, sessionId)?.fold;
      return fold ? heardUpTo(fold, run) : -1;
    },
  });
  const { displayName } = launcher;
  const startAgain = (agent: string, client: AcpClient, why: string): void => {
    if (manager.current(agent) !== client) return;
    log.warn(`${displayName(agent)} is started again: ${why}`);
    manager.reconnect(agent).catch((thrown) => log.warn(messageOf(thrown)));
  };
  const manager = new AgentManager(emitter, { clock: deps.clock, displayName, isWritten, start: launcher.start });
  const opener = createOpener({
    clock: deps.clock,
    mcpServers: ({ options: { agent, name } }) => [
      ...(deps.definitions.find((each) => each.name === agent)?.mcpServers ?? []),
      ...registry.servers(name),
    ],
    loadsOncePerMinute: (agent) => deps.definitions.some((each) => each.name === agent && each.loadsOncePerMinute),
  });
  const ready = async (session: AgentSession): Promise<AcpClient> => {
    const client = await manager.ensureAgent(session.options.agent);
    return await opener.open(client, session).catch((thrown) => {
      throw orLogin(thrown, session.options, client);
    });
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
    leaveAgent: opener.leave,
    stopAgent: (agent) => manager.stop(agent),
    awakeFile: awakeFile(deps.files, deps.directory),
  });
  const lingers = createLingers(manager, watch);
  const restorer = createRestorer({ log, manager, opener, watch });
  const changed = (session: AgentSession): void => {
    watch.changed(session);
    const client = opener.clientOf(session);
    if (client && session.work.turn === "idle") launcher.settled(client);
    lingers.tell(session.options.agent);
    if (isDone(session)) void close(session.options.name);
  };
  const registry = createRegistry({
    ...deps,
    displayName,
    ready,
    forgotten: opener.lost,
    now: watch.now,
    since: watch.since,
    changed,
    resume: (session) => adoption.resume(session),
    entered: watch.unwatched,
    isStopped: watch.isStopped,
    removed: watch.closed,
  });

  emitter.on("error", ({ message, detail }) => log.warn(message, detail === undefined ? {} : { detail }));
  emitter.on("agent:exited", ({ cliType, client, exit, detail }) => {
    registry.waiting.wake();
    for (const session of registry.of(cliType)) {
      if (!opener.lost(session, client)) continue;
      session.record("agent-exited", { ...exit, message: `${displayName(cliType)} exited`, detail });
      session.agentLost();
    }
  });
  emitter.on("agent:connected", ({ cliType, client }) => {
    if (hasLeft) return;
    watch.agentStarted(cliType);
    launcher.connected(client);
    lingers.tellAnew(cliType);
    restorer.connected(client, registry.of(cliType));
  });

  const close = async (name: string): Promise<void> => {
    // Whoever asks again after a loss has closed it already.
    if (registry.isShelved(name)) return;
    const session = registry.named(name);
    const left = opener.leave(session);
    if (session.work.turn !== "idle") {
      await left;
      // The end of its turn is recorded first.
      await deps.clock.sleep(0);
    }
    // Where nothing runs nobody waits for the agent: it closes its side meanwhile.
    session.record("session-closed", {});
    registry.drop(session);
    watch.closed(session);
    lingers.tell(session.options.agent);
  };

  const adoption = startAdoption({ ...deps, launcher, manager, opener, registry, watch });

  void adoption.settled.then(() => {
    for (const agent of manager.names()) lingers.tell(agent);
  });

  /** All at once: behind it nothing of this host writes, asks or ends any more, but what is to end with it. */
  const depart = (isKept: boolean): void => {
    hasLeft = true;
    cancelPrune();
    watch.end();
    for (const session of registry.held()) session.end(isKept);
    registry.end();
    manager.leave(toEnd);
    deps.generation.giveUp();
  };
  const lost = (): void => {
    if (hasLeft) return;
    void adoption.end();
    depart(true);
    deps.fenced?.();
  };
  deps.keepers?.onFenced(lost);
  deps.generation.onLost(lost);

  const cancelPrune = pruneDaily(deps, () => void registry.prune(deps.retention ?? retentionOf({})));
  const verbs = createVerbs({
    ...deps,
    launcher,
    manager,
    registry,
    watch,
    ready,
    attached: restorer.attached,
    linger: lingers.tell,
    close,
  });

  return {
    async asked(client, request) {
      await adoption.ready("session" in request ? request.session : undefined);
      try {
        return await verbs.asked(client, request);
      } catch (thrown) {
        // What failed because this host leaves is for the next one to do.
        throw hasLeft ? hostLeaves() : thrown;
      }
    },
    acknowledged: (clientId, name, seq) => registry.live(name)?.viewers.acknowledged(clientId, seq),
    left(clientId) {
      for (const session of registry.held()) verbs.detach(session, clientId);
    },
    infos() {
      registry.waiting.wake();
      return registry.all().map(verbs.infoOf);
    },
    company: watch.company,
    async endAgents() {
      try {
        await adoption.settled;
        await manager.shutdownAll();
        // The ends of their turns are recorded.
        await deps.clock.sleep(0);
        return (await deps.keepers?.endOthers()) ?? [];
      } catch (thrown) {
        return [messageOf(thrown)];
      }
    },
    async leave(handsOver) {
      // What keeps an agent is known before it is left; and left in one moment: what waited for the adoption starts nothing.
      registry.waiting.wake();
      const ended = adoption.end();
      if (!hasLeft) {
        toEnd = !deps.keepers ? manager.names() : handsOver ? [] : manager.names().filter(watch.isIdle);
        depart(deps.keepers !== undefined);
      }
      await ended;
      // What was recorded last is sent before the goodbye.
      await deps.clock.sleep(0);
    },
    async end() {
      await manager.shutdownAll(toEnd);
      manager.leave();
    },
  };
}
