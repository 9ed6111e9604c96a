// holdfast stop: the host leaves in good order, and whoever stands in line takes over.
import { join } from "node:path";
import type { BridgeConnection } from "../bridge/connection.ts";
import type { AgentInfo } from "../protocol/agents.ts";
import { HostUnreachableError } from "../protocol/fault.ts";
import { toggle } from "../surface/argument.ts";
import { listAgentSessions, listAgents } from "./agent-list.ts";
import { noteMortal } from "./agent-session.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { timeLimitArg, within } from "./time-limit.ts";

const POLL_MS = 10;
const LEAVING_MS = 1_000;

export const stop = holdfastCommand({
  name: "stop",
  args: { agents: toggle("End all agents too, also those that work"), timeout: timeLimitArg },
  examples: [
    { line: "holdfast stop", says: "Ends the host; a standby becomes the next one" },
    { line: "holdfast stop --agents", says: "Ends everything, turns that run included" },
  ],
  details:
    "Agents that work go on without a host, and the next one adopts them; idle ones end. Exit code 0 also when no host runs: there is nothing left to stop.",
  async run({ port, timeout, agents }, context) {
    return await within(context, timeout, stopHost(context, port, agents));
  },
});

/** Agents may work on without a host: to end them one is started, which adopts them first. */
async function startHostFor(context: Context, port: number): Promise<void> {
  const { world, state } = context;
  if (world.files.list(join(state.portDirectory(port), "keepers")).length === 0) return;
  const startHost = () => context.startBackgroundHost(port);
  await (await context.open({ port, mode: "command", startHost })).disconnect();
}

async function stopHost(context: Context, port: number, agents: boolean): Promise<number> {
  const { printer } = context;
  if (agents) await startHostFor(context, port);
  const connection = await context.open({ port, mode: "command" }).catch((thrown) => {
    if (thrown instanceof HostUnreachableError && thrown.data["nobody"]) return undefined;
    throw thrown;
  });
  if (!connection) {
    printer.json({ stopped: null, next: null, cut: [], working: [], left: [] });
    printer.note(`No host runs on port ${port}`);
    return 0;
  }
  const next = nextHost(connection);
  const progress = printer.progress("Waiting for the host to leave");
  const atWork = (await listAgentSessions(connection)).filter(({ turn }) => turn !== "idle");
  const busy = atWork.map(({ name }) => name);
  const endsAll = agents || !context.hasKeepers;
  const [cut, working] = endsAll ? [busy, []] : [[], busy];
  const isEnding = (agent: string) => endsAll || !atWork.some((session) => session.agent === agent);
  const ending = (await listAgents(connection, "")).filter(({ name }) => isEnding(name));
  const { pid, left } = await connection.stopHost({ agents });
  const nextPid = await next;
  // It handed on its port; it is gone when its idle agents are.
  while (context.isRunning(pid)) await context.world.clock.sleep(POLL_MS);
  if (agents || nextPid === null) await untilGone(context, ending);
  progress.done();
  printer.json({ stopped: pid, next: nextPid, cut, working, left });
  for (const each of left) printer.note(`Not ended: ${each}`, "red");
  if (cut.length > 0 && !agents) noteMortal(context);
  for (const name of cut) printer.note(`Session ${name} was working: how its turn ended is unknown`, "yellow");
  if (nextPid === null)
    for (const name of working) printer.note(`Session ${name} works on; holdfast attach ${name} shows it`);
  printer.line(nextPid === null ? `Host ${pid} stopped` : `Host ${pid} stopped; ${nextPid} took over`);
  return left.length > 0 ? 1 : 0;
}

/** Keepers leave when they are told to, a moment later; one whose agent is pinned stays. */
async function untilGone({ world, isRunning }: Context, agents: readonly AgentInfo[]): Promise<void> {
  const { clock } = world;
  const since = clock.elapsed();
  const isThere = ({ keeper }: AgentInfo): boolean => typeof keeper === "number" && isRunning(keeper);
  while (agents.some(isThere) && clock.elapsed() - since < LEAVING_MS) await clock.sleep(POLL_MS);
}

/** The pid of whoever hosts next; null when nobody does. */
const nextHost = (connection: BridgeConnection): Promise<number | null> =>
  new Promise((resolve) => {
    connection.on("host-found", ({ hostPid }) => resolve(hostPid));
    connection.on("ended", () => resolve(null));
  });
