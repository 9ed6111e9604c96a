// Which agents are held by keepers, of which port, and does a host look after them?
import { join } from "node:path";
import { type Origin, originOf } from "../../core/whereabouts.ts";
import { placeAt } from "../../keeper/place.ts";
import type { ProcessMark } from "../../platform/agent-world.ts";
import type { Checkup } from "../../platform/checkup.ts";
import type { Files } from "../../platform/world.ts";
import { messageOf } from "../../protocol/fault.ts";
import { counted, type Finding, ok, problem, warning } from "./finding.ts";

export interface Kept {
  agent: string;
  /** Undefined: nobody lives under that number. */
  agentPid: number | undefined;
  keeperPid: number | undefined;
}

export interface KeptPort {
  port: number;
  kept: Kept[];
  /** What could not be read, and why. */
  unreadable: string[];
}

export const isLeftover = ({ agentPid, keeperPid }: Kept): boolean => agentPid === undefined && keeperPid === undefined;

/** Reads, and makes nothing. */
export function keptPorts(
  files: Files,
  stateDirectory: string,
  { isAlive, here }: Pick<Checkup, "isAlive" | "here">,
): KeptPort[] {
  const ports = join(stateDirectory, "ports");
  const living = (mark: ProcessMark | null | undefined, origin: Origin) =>
    mark && origin === "here" && isAlive(mark) ? mark.pid : undefined;
  return files
    .list(ports)
    .filter((name) => /^\d+$/.test(name))
    .map((name): KeptPort => {
      const found: KeptPort = { port: Number(name), kept: [], unreadable: [] };
      const home = join(ports, name, "keepers");
      for (const run of files.list(home)) {
        try {
          const place = placeAt(files, join(home, run));
          const state = place.state();
          const spec = place.spec();
          const agent = spec?.agent ?? "an agent";
          const origin = originOf(spec?.where, here);
          // Of another machine or namespace: not ours to judge, and `status` tells of it.
          if (origin === "elsewhere") continue;
          const [agentPid, keeperPid] = [living(state?.agent, origin), living(state?.keeper, origin)];
          found.kept.push({ agent, agentPid, keeperPid });
        } catch (thrown) {
          found.unreadable.push(messageOf(thrown));
        }
      }
      return found;
    })
    .filter(({ kept, unreadable }) => kept.length + unreadable.length > 0);
}

function judgeKept(port: number, { agent, agentPid, keeperPid }: Kept, hosted: boolean): Finding[] {
  const where = `${agent} (pid ${agentPid}) on port ${port}`;
  const adopt = `the next command on port ${port} adopts it; to end it: holdfast stop --agents --port ${port}`;
  if (agentPid !== undefined && keeperPid !== undefined) {
    if (hosted) return [ok("keepers", `${where} is held by keeper ${keeperPid}, and a host looks after it`)];
    return [warning("keepers", `${where} is held by keeper ${keeperPid}, and no host looks after it`, adopt)];
  }
  if (agentPid !== undefined) {
    const hint = hosted ? "the host replaces it within seconds" : adopt;
    return [warning("keepers", `${where} works on, but its keeper is dead`, hint)];
  }
  // The agent has ended; the keeper waits for a host to read what it said last.
  if (keeperPid === undefined) return [];
  const hint = hosted ? "the host reads it within seconds" : `the next command on port ${port} reads what it said last`;
  return [warning("keepers", `${agent} on port ${port} has ended, and keeper ${keeperPid} waits for a host`, hint)];
}

export function judgeKeepers({ port, kept, unreadable }: KeptPort, hosted: boolean): Finding[] {
  const leftovers = kept.filter(isLeftover);
  const anyAlive = leftovers.length < kept.length;
  const readsThem = `the next command on port ${port} reads what it said last into its journal`;
  const hint = hosted
    ? "they go when the next host starts"
    : anyAlive
      ? readsThem
      : `holdfast doctor --fix, or: ${readsThem}`;
  const left = `Leftovers of ${counted(leftovers.length, "dead agent")} on port ${port}`;
  return [
    ...kept.flatMap((each) => judgeKept(port, each, hosted)),
    ...(leftovers.length > 0 ? [warning("keepers", left, hint)] : []),
    ...unreadable.map((why) => problem("keepers", why, "holdfast doctor --fix closes what is too open")),
  ];
}
