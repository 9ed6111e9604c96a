// Who holds the port? Nobody, a host of ours that proves itself, or a stranger.
import type { BridgeConnection } from "../../bridge/connection.ts";
import type { Probed } from "../../platform/world.ts";
import { Fault, type FaultCode } from "../../protocol/fault.ts";
import { isRecord } from "../../protocol/guards.ts";
import type { HostStatus } from "../../protocol/host-messages.ts";
import { VERSION } from "../../protocol/version.ts";
import { untilAnswered } from "../ask-again.ts";
import type { Context } from "../context.ts";
import { within } from "../time-limit.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const PROBE_MS = 1_000;
const JOIN_MS = 5_000;

export type Holder =
  | { kind: "nobody" }
  | { kind: "host"; status: HostStatus; runsAgents: boolean }
  /** It says that it is one; whether it is could not be found out, or it is not. */
  | { kind: "claims"; version: string; why: Fault }
  | { kind: "stranger"; silent: boolean };

/** What `/health` of a host says of its version; undefined: this is no host. */
export function claimedVersion(probed: Probed): string | undefined {
  if (probed.kind !== "answer" || probed.status !== 200) return undefined;
  try {
    const health: unknown = JSON.parse(probed.body);
    if (!isRecord(health) || health["status"] !== "ok") return undefined;
    const version = health["serverVersion"];
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

/** A probe that fails proves nothing: whoever speaks no HTTP holds the port as well. */
async function somebodyListens({ world }: Context, port: number): Promise<boolean> {
  const nothing = { message() {}, pong() {}, closed() {} };
  const found = await world.net.connect({ port, path: "/client", timeoutMs: PROBE_MS }, () => nothing);
  if (found.kind === "open") found.socket.cut();
  return found.kind !== "refused";
}

export async function isHosted({ world }: Pick<Context, "world">, port: number): Promise<boolean> {
  return claimedVersion(await world.net.probe(port, PROBE_MS)) !== undefined;
}

export async function findHolder(context: Context, port: number): Promise<Holder> {
  const probed = await context.world.net.probe(port, PROBE_MS);
  const version = claimedVersion(probed);
  if (version !== undefined) {
    try {
      const ask = async () => {
        const connection = await context.open({ port, mode: "command" });
        return await untilAnswered(context, connection, async () => ({
          status: await connection.status(),
          runsAgents: await runsAgents(connection),
        }));
      };
      return { kind: "host", ...(await within(context, JOIN_MS, ask())) };
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      return { kind: "claims", version, why: thrown };
    }
  }
  if (probed.kind === "refused" && !(await somebodyListens(context, port))) return { kind: "nobody" };
  return { kind: "stranger", silent: probed.kind === "silent" };
}

/** A program that hosts without agents refuses every question about them. */
const runsAgents = (connection: BridgeConnection): Promise<boolean> =>
  connection.askAgents({ verb: "sessions" }).then(
    () => true,
    (thrown) => {
      // In use elsewhere they are left alone, and `doctor` says that in a line of its own.
      if (thrown instanceof Fault && thrown.code === "REFUSED") return thrown.data["elsewhere"] !== undefined;
      throw thrown;
    },
  );

type Owner = { pid: number; command: string } | undefined;

/** It says that it is a host: mostly it is one, and something stands between us. */
const HINTS: Partial<Record<FaultCode, string>> = {
  VERSION_SKEW: "end it with the holdfast that started it",
  HOST_FULL: "raise MAX_CLIENTS in the config file, and start it again",
  NOT_PERMITTED: "holdfast doctor --fix, then look again",
  TIMEOUT: "look again; if it stays so, end it",
};

export function judgePort(port: number, holder: Holder, owner: Owner): Finding[] {
  const who = owner ? `process ${owner.pid} (${owner.command})` : "a process that the system does not name";
  const other = "end it, or choose another port with --port or HOLDFAST_PORT";
  switch (holder.kind) {
    case "nobody":
      return [ok("port", `Port ${port} is free; the first command that needs a host starts one`)];
    case "stranger": {
      const how = holder.silent ? "which does not answer" : "which is no holdfast host";
      return [problem("port", `Port ${port} is held by ${who}, ${how}`, other)];
    }
    case "claims":
      return [
        problem("port", `Port ${port} is held by ${who}: ${holder.why.message}`, HINTS[holder.why.code] ?? other),
      ];
    case "host":
      return [...judgeHost(holder.status), ...(holder.runsAgents ? [] : [noAgents(holder.status)])];
  }
}

const noAgents = ({ pid, port }: HostStatus): Finding =>
  warning(
    "port",
    `Host ${pid} on port ${port} runs no agents: prompts are refused, and agents work on without a host`,
    `end process ${pid}; the next command starts a host that runs them`,
  );

function judgeHost({ pid, port, version, background, auth, logFile }: HostStatus): Finding[] {
  const log = logFile ? `; it logs to ${logFile}` : "";
  const kind = background ? "in the background" : "in the foreground";
  const is = ok("port", `Port ${port} is held by host ${pid}, holdfast ${version}, ${kind}${log}`);
  const skew = `Host ${pid} is holdfast ${version}, and this is ${VERSION}`;
  const open = `Host ${pid} runs with --auth none: every local process may be a client`;
  return [
    is,
    ...(version === VERSION ? [] : [warning("port", skew, "holdfast stop; the next command starts this one")]),
    ...(auth === "none" ? [warning("port", open, "holdfast stop, then serve without --auth none")] : []),
  ];
}
