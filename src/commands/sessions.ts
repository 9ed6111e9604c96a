// holdfast sessions: who is connected.

import type { BridgeConnection } from "../bridge/connection.ts";
import type { AgentSessionInfo, ShelvedSession } from "../protocol/agents.ts";
import type { SessionInfo } from "../protocol/host-messages.ts";
import { toggle, whole } from "../surface/argument.ts";
import { describeTurn, listAgentSessions, listShelf } from "./agent-list.ts";
import { untilAnswered } from "./ask-again.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { noStartArg, openAsCommand } from "./plugin-session.ts";
import { timeLimitArg, within } from "./time-limit.ts";

export const sessions = holdfastCommand({
  name: "sessions",
  args: {
    watch: toggle("Go on and tell who comes and leaves"),
    all: toggle("With the closed agent sessions that a prompt or attach brings back"),
    limit: whole("With --all: so many of the closed ones, the newest first", { min: 1, default: 100 }),
    noStart: noStartArg,
    timeout: timeLimitArg,
  },
  short: { w: "watch", a: "all" },
  examples: [
    { line: "holdfast sessions", says: "A table of the connected sessions" },
    { line: "holdfast sessions --format json", says: "An array of them" },
  ],
  stands: ({ watch }) => watch,
  async run(args, context) {
    if (args.watch) return await keepWatching(context, args);
    const list = async () => {
      const connection = await openAsCommand(context, args);
      return await untilAnswered(context, connection, async () => {
        const agents = await listAgentSessions(connection);
        const shelf = args.all ? await listShelf(connection, args.limit + 1) : [];
        return { plugins: connection.listSessions(), agents, shelf };
      });
    };
    const { plugins, agents, shelf } = await within(context, args.timeout, list());
    show(context, plugins, agents, shelf.slice(0, args.limit));
    if (shelf.length > args.limit) {
      const more = `These are the ${args.limit} newest closed sessions; for more use --limit ${args.limit * 10}`;
      context.printer.note(more);
    }
    return 0;
  },
});

const toJson = (info: SessionInfo) => ({
  kind: "plugin",
  sessionId: info.sessionId,
  instanceId: info.instanceId,
  context: info.context,
  placeName: info.placeName,
  state: info.state,
  capabilities: info.capabilities,
  connectedAt: info.connectedAt,
  ...(info.stale ? { stale: true } : {}),
});

/** What scripts rely on, and no more. */
const agentJson = ({ kind, name, agent, cwd, turn, queued, clients, lastSeq, idle }: AgentSessionInfo) => {
  const { verdict, reason, dueInMs } = idle;
  const due = dueInMs === null ? null : Math.round(dueInMs);
  return { kind, name, agent, cwd, turn, queued, clients, lastSeq, idle: { verdict, reason, dueInMs: due } };
};

interface Row {
  name: string;
  kind: string;
  of: string;
  where: string;
  state: string;
  why: string;
}

const pluginRow = (info: SessionInfo): Row => ({
  name: info.sessionId,
  kind: "plugin",
  of: info.instanceId,
  where: info.context,
  state: info.stale ? `${info.state}, silent` : info.state,
  why: info.placeName,
});

const agentRow = (info: AgentSessionInfo): Row => ({
  name: info.name,
  kind: "agent",
  of: info.agent,
  where: info.cwd,
  state: describeTurn(info),
  why: info.idle.reason,
});

const shelfRow = ({ name, agent, cwd }: ShelvedSession): Row => ({
  name,
  kind: "agent",
  of: agent,
  where: cwd,
  state: "closed",
  why: "a prompt brings it back",
});

function show(
  { printer }: Context,
  plugins: readonly SessionInfo[],
  agents: readonly AgentSessionInfo[],
  shelf: readonly ShelvedSession[],
): void {
  printer.json([...plugins.map(toJson), ...agents.map(agentJson), ...shelf]);
  const rows = [...plugins.map(pluginRow), ...agents.map(agentRow), ...shelf.map(shelfRow)];
  if (rows.length === 0)
    return printer.note("No session yet; start one with: holdfast plugin js, or: holdfast prompt demo hi -s work");
  printer.table(rows, [
    { title: "SESSION", value: (row) => row.name },
    { title: "KIND", value: (row) => row.kind },
    { title: "OF", value: (row) => row.of },
    { title: "WHERE", value: (row) => row.where },
    { title: "STATE", value: (row) => row.state },
    { title: "NOTE", value: (row) => row.why },
  ]);
}

async function keepWatching(context: Context, { port, timeout }: { port: number; timeout: number }): Promise<number> {
  const { printer, signal } = context;
  const connection = await within(context, timeout, context.open({ port, mode: "standing" }));
  const tell = (type: string) => (info: SessionInfo) => {
    const text = `${type.padEnd(12)} ${info.sessionId}  ${info.instanceId}  ${info.context}  ${info.placeName}  ${info.state}`;
    printer.event(type, toJson(info), { text: printer.safe(text) });
  };
  for (const info of connection.listSessions()) tell("connected")(info);
  connection.on("session-connected", tell("connected"));
  connection.on("session-disconnected", tell("disconnected"));
  connection.on("session-changed", tell("changed"));
  connection.on("host-found", ({ role, hostPid, tookMs }) => {
    printer.event("host-changed", { role, hostPid, tookMs }, { text: `New host ${hostPid} after ${tookMs} ms` });
  });
  await Promise.race([
    watchAgents(context, connection),
    new Promise<void>((resolve, reject) => {
      connection.on("ended", ({ error }) => (error ? reject(error) : resolve()));
      signal.addEventListener("abort", () => resolve(), { once: true });
    }),
  ]);
  return 0;
}

const LOOK_MS = 500;

/** Agent sessions are looked at now and then: what counts is who works, not each of their events. */
async function watchAgents({ printer, signal, world }: Context, connection: BridgeConnection): Promise<void> {
  const known = new Map<string, string>();
  const tell = (type: string, info: AgentSessionInfo) => {
    const text = `${type.padEnd(12)} ${info.name}  ${info.agent}  ${info.cwd}  ${describeTurn(info)}`;
    printer.event(type, agentJson(info), { text: printer.safe(text) });
  };
  while (!signal.aborted) {
    const now = await listAgentSessions(connection).catch(() => undefined);
    for (const info of now ?? []) {
      const state = `${describeTurn(info)} ${info.clients}`;
      if (known.get(info.name) !== state) tell(known.has(info.name) ? "changed" : "connected", info);
      known.set(info.name, state);
    }
    for (const name of now ? [...known.keys()] : []) {
      if (now?.some((info) => info.name === name)) continue;
      known.delete(name);
      printer.event("disconnected", { kind: "agent", name }, { text: printer.safe(`disconnected ${name}`) });
    }
    await world.clock.sleep(LOOK_MS, signal);
  }
}
