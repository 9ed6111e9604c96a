// What is the sum of it? Kills by kind, prompts, execs, viewers, and how many of each violation: as a table and as data.
import type { History, Violation } from "./history.ts";

export interface Counts {
  phases: number;
  kills: Record<string, number>;
  /** Told to leave within a second of its promotion. */
  told: number;
  promotions: number;
  prompts: number;
  execs: number;
  viewers: number;
  commands: number;
}

export const noCounts = (): Counts => ({
  phases: 0,
  kills: {},
  told: 0,
  promotions: 0,
  prompts: 0,
  execs: 0,
  viewers: 0,
  commands: 0,
});

/** Nobody did it: the machine had no time for us. */
export const STARVED = "starve";
const FRESH = "told within a second";

/** Of what happened since then; commands are forgotten when they are counted. */
export function countOf({ commands, ...all }: History, since = 0): Counts {
  const faults = all.faults.filter(({ at }) => at >= since);
  const promotions = all.promotions.filter(({ at }) => at >= since);
  const kills: Record<string, number> = {};
  for (const { what } of faults) if (what !== FRESH && what !== STARVED) kills[what] = (kills[what] ?? 0) + 1;
  const ofKind = (...kinds: string[]): number => commands.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    phases: 1,
    kills,
    told: faults.filter(({ what }) => what === FRESH).length,
    promotions: promotions.length,
    prompts: commands.filter(({ about }) => about.text !== undefined).length,
    execs: ofKind("exec"),
    viewers: ofKind("attach", "read"),
    commands: commands.length,
  };
}

export function addCounts(to: Counts, more: Counts): void {
  for (const [what, count] of Object.entries(more.kills)) to.kills[what] = (to.kills[what] ?? 0) + count;
  for (const key of ["phases", "told", "promotions", "prompts", "execs", "viewers", "commands"] as const)
    to[key] += more[key];
}

export interface Summary extends Counts {
  seeds: number[];
  allKills: number;
  /** Of these, by kill -9. */
  killed: number;
  lost: number;
  doubled: number;
  orphans: number;
  doubleWriters: number;
  undocumentedExits: number;
  others: number;
  evidence: string[];
}

export function summaryOf(
  rounds: readonly { seed: number; counts: Counts; violations: readonly Violation[]; evidence?: string }[],
): Summary {
  const counts = noCounts();
  for (const round of rounds) addCounts(counts, round.counts);
  const all = rounds.flatMap(({ violations }) => violations);
  const of = (...kinds: Violation["kind"][]): number => all.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    ...counts,
    seeds: rounds.map(({ seed }) => seed),
    killed: Object.entries(counts.kills).reduce(
      (sum, [what, count]) => sum + (what.startsWith("kill ") ? count : 0),
      0,
    ),
    allKills: Object.values(counts.kills).reduce((sum, count) => sum + count, 0),
    lost: of("lost", "hung"),
    doubled: of("doubled"),
    orphans: of("orphan"),
    doubleWriters: of("double writer", "two hosts"),
    undocumentedExits: of("undocumented exit"),
    others: of("differing view", "trace"),
    evidence: rounds.flatMap(({ evidence }) => evidence ?? []),
  };
}

export function tableOf(summary: Summary): string {
  const rows: [string, number | string][] = [
    ["seeds", summary.seeds.join(", ")],
    ...Object.entries(summary.kills).toSorted(([a], [b]) => a.localeCompare(b)),
    ["all of these", summary.allKills],
    ["of them by kill -9", summary.killed],
    ["told to leave within a second of promotion", summary.told],
    ["promotions", summary.promotions],
    ["commands", summary.commands],
    ["prompts", summary.prompts],
    ["execs", summary.execs],
    ["viewers", summary.viewers],
    ["lost", summary.lost],
    ["doubled", summary.doubled],
    ["orphans", summary.orphans],
    ["double writers", summary.doubleWriters],
    ["undocumented exits", summary.undocumentedExits],
    ["differing views and stack traces", summary.others],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join("\n");
}
