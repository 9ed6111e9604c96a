// holdfast stop: the host leaves in good order, and whoever stands in line takes over.
import { join } from "node:path";
import type { BridgeConnection } from "../bridge/connection.ts";
import type { AgentInfo, AgentSessionInfo } from "../protocol/agents.ts";
import { HostUnreachableError } from "../protocol/fault.ts";
import { toggle } from "../surface/argument.ts";
import { listAgentSessions, listAgents } from "./agent-list.ts";
import { noteMortal } from "./agent-session.ts";
import { isLoss, untilAnswered } from "./ask-again.ts";
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

/** Where agents are held; a host adopts them first, to end them. */
const keepersOf = ({ world, state }: Context, port: number): string[] =>
  world.files.list(join(state.portDirectory(port), "keepers"));

async function stopHost(context: Context, port: number, agents: boolean): Promise<number> {
  const { printer } = context;
  const progress = printer.progress("Waiting for the host to leave");
  const stopped = await stopAll(context, port, agents).finally(progress.done);
  if (!stopped) {
    printer.json({ stopped: null, next: null, cut: [], working: [], pinned: [], left: [] });
    printer.note(`No host runs on port ${port}`);
    return 0;
  }
  const { pid, next, cut, working, pinned, left } = stopped;
  printer.json({ stopped: pid, next, cut, working, pinned: pinned.map(({ name }) => name), left });
  for (const each of left) printer.note(`Not ended: ${each}`, "red");
  if (cut.length > 0 && !agents) noteMortal(context);
  for (const name of cut) printer.note(`Session ${name} was working: how its turn ended is unknown`, "yellow");
  if (next === null) {
    for (const name of working) printer.note(`Session ${name} works on; holdfast attach ${name} shows it`);
    for (const { name, why } of pinned) printer.note(`Agent ${name} stays (${why}); holdfast stop --agents ends it`);
  }
  printer.line(next === null ? `Host ${pid} stopped` : `Host ${pid} stopped; ${next} took over`);
  return left.length > 0 ? 1 : 0;
}

async function stopAll(context: Context, port: number, agents: boolean): Promise<Stopped | undefined> {
  let stopped = await stopOne(context, port, agents);
  // It went before it was done: whoever is left is told again.
  while (agents && stopped && !stopped.isSure && keepersOf(context, port).length > 0) {
    stopped = (await stopOne(context, port, agents)) ?? { ...stopped, isSure: true };
  }
  return stopped;
}

interface Stopped {
  pid: number;
  next: number | null;
  cut: string[];
  working: string[];
  /** Agents that stay although they do not work, and why. */
  pinned: { name: string; why: string }[];
  /** What could not be ended, and why. */
  left: string[];
  /** False: it went while it was told to. */
  isSure: boolean;
}

/** Undefined: nobody hosts. */
async function stopOne(context: Context, port: number, agents: boolean): Promise<Stopped | undefined> {
  if (agents && keepersOf(context, port).length > 0) {
    const startHost = () => context.startBackgroundHost(port);
    // Only for that: what leaves in a moment must not be started again.
    await (await context.open({ port, mode: "command", startHost })).disconnect();
  }
  try {
    return await leaveInOrder(context, await context.open({ port, mode: "command" }), agents);
  } catch (thrown) {
    if (thrown instanceof HostUnreachableError && thrown.data["nobody"]) return undefined;
    throw thrown;
  }
}

async function leaveInOrder(context: Context, connection: BridgeConnection, agents: boolean): Promise<Stopped> {
  const [sessions, running] = await untilAnswered(context, connection, () =>
    Promise.all([listAgentSessions(connection), listAgents(connection, "")]),
  );
  const busy = sessions.filter(({ turn }) => turn !== "idle");
  const names = busy.map(({ name }) => name);
  const endsAll = agents || !context.hasKeepers;
  const isEnding = ({ name }: AgentInfo) => endsAll || !busy.some((session) => session.agent === name);
  const { hostPid } = connection;
  const next = nextHost(connection);
  // Not asked again: the next host would leave too.
  const told = await connection.stopHost({ agents }).catch((thrown) => {
    if (!isLoss(thrown)) throw thrown;
    return undefined;
  });
  const pid = told?.pid ?? hostPid;
  const nextPid = await next;
  // It handed on its port; it is gone when its idle agents are.
  while (context.isRunning(pid)) await context.world.clock.sleep(POLL_MS);
  const ending = running.filter(isEnding);
  if (agents || nextPid === null) await untilGone(context, ending);
  const whyOf = (agent: string) => sessions.find((each) => each.agent === agent && each.idle.verdict === "kept");
  return {
    pid,
    next: nextPid,
    cut: endsAll ? names : [],
    working: endsAll ? [] : names,
    pinned: ending
      .filter((agent) => nextPid === null && isThere(context, agent))
      .map(({ name }) => ({ name, why: describeKept(whyOf(name)) })),
    left: told?.left ?? [],
    isSure: told !== undefined,
  };
}

const describeKept = (session: AgentSessionInfo | undefined): string =>
  session ? `session ${session.name}: ${session.idle.reason}` : "it has not ended yet";

const isThere = ({ isRunning }: Context, { keeper }: AgentInfo): boolean =>
  typeof keeper === "number" && isRunning(keeper);

/** Keepers leave when they are told to, a moment later; one whose agent is pinned stays. */
async function untilGone(context: Context, agents: readonly AgentInfo[]): Promise<void> {
  const { clock } = context.world;
  const since = clock.elapsed();
  const isOne = (agent: AgentInfo): boolean => isThere(context, agent);
  while (agents.some(isOne) && clock.elapsed() - since < LEAVING_MS) await clock.sleep(POLL_MS);
}

/** The pid of whoever hosts next; null when nobody does. */
const nextHost = (connection: BridgeConnection): Promise<number | null> =>
  new Promise((resolve) => {
    connection.on("host-found", ({ hostPid }) => resolve(hostPid));
    connection.on("ended", () => resolve(null));
  });
