// holdfast status: who hosts, since when, and who is connected. It looks; it never starts a host.

import type { BridgeConnection } from "../bridge/connection.ts";
import { systemCheckup } from "../platform/checkup.ts";
import type { AgentInfo, AgentSessionInfo } from "../protocol/agents.ts";
import { Fault, HostUnreachableError } from "../protocol/fault.ts";
import type { HostStatus } from "../protocol/host-messages.ts";
import { toggle } from "../surface/argument.ts";
import { describeTurn, listAgentSessions, listAgents } from "./agent-list.ts";
import { isLoss, untilAnswered } from "./ask-again.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { keptPorts } from "./doctor/keepers.ts";
import { timeLimitArg, within } from "./time-limit.ts";

export const status = holdfastCommand({
  name: "status",
  args: {
    watch: toggle("Go on and show it again whenever it changes"),
    timeout: timeLimitArg,
  },
  short: { w: "watch" },
  examples: [
    { line: "holdfast status", says: "The host and who is connected to it" },
    { line: "holdfast status --json", says: "The same as one JSON document" },
  ],
  details: "Exit code 4 when no host runs; only --watch, which stands in line, becomes one then.",
  stands: ({ watch }) => watch,
  async run(args, context) {
    if (args.watch) return await keepWatching(context, args);
    const ask = async () => {
      const connection = await context.open({ port: args.port, mode: "command" });
      return await untilAnswered(context, connection, () => look(context, connection));
    };
    const found = await within(context, args.timeout, ask()).catch((thrown) => {
      throw orWithKeepers(context, args.port, thrown);
    });
    context.printer.json(found);
    show(context, found);
    return 0;
  },
});

/** Where no host runs agents may work on all the same. */
function orWithKeepers({ world, state }: Context, port: number, thrown: unknown): unknown {
  if (!(thrown instanceof HostUnreachableError) || !thrown.data["nobody"]) return thrown;
  const kept = keptPorts(world.files, state.directory, systemCheckup).find((each) => each.port === port)?.kept;
  const alive = (kept ?? []).filter(({ agentPid }) => agentPid !== undefined);
  if (alive.length === 0) return thrown;
  const names = alive.map(
    ({ agent, agentPid, keeperPid }) => `${agent} (pid ${agentPid}, keeper ${keeperPid ?? "none"})`,
  );
  const hint = `holdfast sessions starts a host that adopts them, holdfast stop --agents ends them`;
  const message = `${thrown.message}. Agents work on without one: ${names.join(", ")}; ${hint}`;
  return new Fault("HOST_UNREACHABLE", message, { ...thrown.data, agents: alive }, { cause: thrown });
}

type Found = HostStatus & { agents: AgentInfo[]; agentSessions: AgentSessionInfo[] };

async function look({ env }: Context, connection: BridgeConnection): Promise<Found> {
  const [status, agents, agentSessions] = await Promise.all([
    connection.status(),
    listAgents(connection, env["PATH"] ?? ""),
    listAgentSessions(connection),
  ]);
  return { ...status, agents: agents.filter((agent) => agent.status !== "idle"), agentSessions };
}

/** In use where this host does not reach, though it shares the state directory. */
const isElsewhere = ({ status }: AgentInfo): boolean => status === "elsewhere";
/** The rest is in --json. */
const STDERR_LINES = 3;

function show({ printer }: Context, found: Found): void {
  const { paint, safe } = printer;
  const kind = found.background ? "in the background" : "in the foreground";
  printer.line(`${paint.bold(`Host ${found.pid}`)} on port ${found.port}, ${kind}, holdfast ${found.version}`);
  printer.line(`  host since     ${found.hostSince}`);
  printer.line(`  last failover  ${found.lastFailoverAt ?? "none"}`);
  for (const { address, listening, note } of found.addresses) {
    printer.line(`  ${address.padEnd(14)} ${listening ? "listening" : "not listening"}${note ? `: ${note}` : ""}`);
  }
  const auth = found.auth === "none" ? paint.red("none: every local process may be a client") : found.auth;
  printer.line(`  auth           ${auth}${found.pluginToken ? ", plugins need a token" : ""}`);
  if (found.logFile) printer.line(`  log            ${found.logFile}`);
  if (found.endsWhenIdle) printer.line(`  when idle      ${found.endsWhenIdle}`);
  const line = found.clients.filter(({ standing }) => standing);
  printer.line(`  in line        ${line.map(({ pid }) => pid ?? "?").join(", ") || "nobody"}`);
  printer.line(`  commands       ${found.clients.length - line.length}`);
  printer.line(`  plugins        ${found.sessions.length}`);
  for (const info of found.sessions) {
    const silent = info.stale ? ", silent" : "";
    const line = `    ${info.sessionId}  ${info.instanceId}  ${info.context}  ${info.placeName}  ${info.state}${silent}`;
    printer.line(safe(line));
  }
  const [elsewhere, agents] = [found.agents.filter(isElsewhere), found.agents.filter((each) => !isElsewhere(each))];
  printer.line(`  agents         ${agents.length}`);
  if (elsewhere.length > 0) {
    const count = elsewhere.length === 1 ? "1 agent" : `${elsewhere.length} agents`;
    printer.line(`    ${count} of another machine or namespace ${elsewhere.length === 1 ? "is" : "are"} left alone`);
  }
  for (const { name, status, pid, keeper, stderr = [] } of agents) {
    printer.line(`    ${name}  ${status}  pid ${pid ?? "none"}${keeper ? `  keeper ${keeper}` : ""}`);
    if (status === "connected") continue;
    for (const said of stderr.slice(-STDERR_LINES)) printer.line(safe(`      stderr: ${said}`));
  }
  printer.line(`  agent sessions ${found.agentSessions.length}`);
  for (const info of found.agentSessions) {
    printer.line(
      safe(`    ${info.name}  ${info.agent}  ${describeTurn(info)}  ${info.clients} attached  ${info.idle.reason}`),
    );
  }
}

async function keepWatching(context: Context, { port, timeout }: { port: number; timeout: number }): Promise<number> {
  const { printer, signal, world } = context;
  const connection = await within(context, timeout, context.open({ port, mode: "standing" }));
  let last = "";
  // Times that run by themselves are no change.
  const stable = ({ endsWhenIdle: _, agentSessions, ...rest }: Found) =>
    JSON.stringify({ ...rest, agentSessions: agentSessions.map(({ idle: _idle, ...info }) => info) });
  while (!signal.aborted) {
    const found = await look(context, connection).catch((thrown) => {
      if (isLoss(thrown)) return undefined;
      throw thrown;
    });
    if (found && stable(found) !== last) {
      last = stable(found);
      if (printer.format === "json") printer.event("status", found);
      else show(context, found);
    }
    await world.clock.sleep(500, signal);
  }
  return 0;
}
