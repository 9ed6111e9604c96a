// Was there one host at a time? Who still holds journals open for writing while another listens, and who answers for whom.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Command, FaultDone, Promotion, Violation } from "../history.ts";

/** A host that was told to leave lets requests finish; one that was stopped finds out when it goes on. */
const GRACE_MS = 10_000;
const ANSWER_MS = 3_000;

export interface Holding {
  at: number;
  pid: number;
  journal: string;
}

const WRITES = 0o3;

/** Which of these have a journal open for writing. */
export function journalsHeld(pids: readonly number[], directory: string): Holding[] {
  const at = Date.now();
  return pids.flatMap((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        const journal = readlinkSync(`/proc/${pid}/fd/${fd}`);
        if (!journal.startsWith(`${directory}/`) || !journal.endsWith(".ndjson")) return [];
        const flags = Number.parseInt(
          /flags:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1] ?? "0",
          8,
        );
        return (flags & WRITES) === 0 ? [] : [{ at, pid, journal }];
      });
    } catch {
      // It is just going.
      return [];
    }
  });
}

/** Held on and on by one that hosts no more, though nobody had stopped it. */
export function checkHolders(
  holdings: readonly Holding[],
  promotions: readonly Promotion[],
  faults: readonly FaultDone[],
): Violation[] {
  const since = new Map<number, Holding>();
  const found = new Map<number, Violation>();
  for (const holding of holdings) {
    const { pid, at } = holding;
    const host = promotions.findLast((each) => each.at <= at);
    const isFrozen = faults.some(
      (each) => each.pid === pid && /^freeze/.test(each.what) && each.at <= at && each.until + 2_000 >= at,
    );
    if (!host || host.pid === pid || isFrozen) {
      since.delete(pid);
      continue;
    }
    const first = since.get(pid) ?? holding;
    since.set(pid, first);
    if (at - Math.max(first.at, host.at) <= GRACE_MS || found.has(pid)) continue;
    const text = `Process ${pid} has held ${holding.journal} open for writing for ${at - first.at} ms, while ${host.pid} hosts`;
    found.set(pid, { kind: "two hosts", text, at });
  }
  return [...found.values()];
}

/** `status` names a host that hosted while it was asked. */
export function checkAnswers(commands: readonly Command[], promotions: readonly Promotion[]): Violation[] {
  return commands.flatMap(({ kind, code, out, at, endedAt = at }): Violation[] => {
    if (kind !== "status" || code !== 0) return [];
    const pid = Number(JSON.parse(out).pid);
    const index = promotions.findLastIndex((each) => each.pid === pid);
    const next = promotions[index + 1];
    if (index < 0 || !next || next.at + ANSWER_MS >= at) return [];
    return [
      {
        kind: "two hosts",
        text: `status at ${at} is answered by ${pid}, though ${next.pid} hosts since ${next.at}`,
        at: endedAt,
      },
    ];
  });
}
