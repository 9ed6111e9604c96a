// What is one run? A yard, phases of faults with a check after each, and an end that leaves nothing.
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDice } from "../support/dice.ts";
import { sweepBrowsers } from "./actors/web.ts";
import { playPhase } from "./cast.ts";
import { checkAll, openTurns } from "./checks/all.ts";
import { type Holding, journalsHeld } from "./checks/hosts.ts";
import { checkLeft } from "./checks/leftovers.ts";
import { type Disk, fillDisk, openDisk } from "./disk.ts";
import type { Fault } from "./faults/fault.ts";
import { createHistory, type Violation } from "./history.ts";
import { startLoad, watchLag } from "./load.ts";
import { addCounts, type Counts, countOf, noCounts } from "./report.ts";
import { causes, suspects, tellStory } from "./story.ts";
import { createWorks } from "./work.ts";
import { openYard, type Yard } from "./yard.ts";

export interface RoundOptions {
  seed: number;
  seconds: number;
  faults: readonly Fault[];
  diskMb?: number;
  load: number;
  signal: AbortSignal;
  say(line: string): void;
}

export interface RoundResult {
  seed: number;
  counts: Counts;
  violations: Violation[];
  stories: string[];
  evidence?: string;
  /** Faults that struck shortly before the first one. */
  suspects: string[];
}

const HOLDING_MS = 500;
const PHASE_MS = 60_000;
/** Turns that go on have their time to end, once nobody disturbs them. */
const CALM_MS = 45_000;

/** Somebody hosts, adopts what is left, and every turn comes to its end. */
async function calm(yard: Yard, works: ReturnType<typeof createWorks>): Promise<void> {
  await yard.run("sessions", ["sessions", "--json"]);
  for (const until = performance.now() + CALM_MS; performance.now() < until; await Bun.sleep(100))
    if (openTurns(yard, works).length === 0) return;
}

export async function playRound(options: RoundOptions): Promise<RoundResult> {
  const { seed, seconds, signal, say } = options;
  const history = createHistory();
  const disk = options.diskMb === undefined ? undefined : openDisk(options.diskMb);
  if (options.diskMb !== undefined && !disk) say("chaos: no small disk can be mounted here (it takes root); left out");
  const faults = usable(options.faults, disk, say);
  const yard = await openYard(history, disk?.directory);
  const endLoad = startLoad(options.load);
  const holdings: Holding[] = [];
  const endLag = watchLag(history);
  const looking = setInterval(() => {
    const pids = yard.processes.members("host", "standby", "client").map(({ pid }) => pid);
    holdings.push(...journalsHeld(pids, yard.sessionsDirectory()));
  }, HOLDING_MS);
  const works = createWorks(`w${seed}`);
  const stopWatching = yard.processes.watch((pid) => {
    const command = history.commands.findLast((each) => each.pid === pid);
    const who = command ? command.words.slice(0, 2).join(" ") : "a host in the background";
    history.promotions.push({ at: Date.now(), pid, who });
  });
  const counts = noCounts();
  const violations = new Map<string, Violation>();
  const stories: string[] = [];
  const blamed: string[] = [];
  let evidence: string | undefined;
  let files = 0;
  const add = (found: readonly Violation[]): void => {
    const fresh = found.filter(({ text }) => !violations.has(text));
    for (const each of fresh) violations.set(each.text, each);
    if (fresh.length === 0) return;
    stories.push(...tellStory(fresh, yard));
    const [first] = causes(fresh);
    if (first && blamed.length === 0) blamed.push(...suspects(history, first));
    evidence ??= join(tmpdir(), `holdfast-chaos-${seed}-${process.pid}`);
    mkdirSync(evidence, { recursive: true });
    files++;
    const lines = [...history.faults, ...history.promotions, ...history.notes].toSorted((a, b) => a.at - b.at);
    writeFileSync(join(evidence, `events-${files}.ndjson`), lines.map((each) => JSON.stringify(each)).join("\n"));
    const commands = history.commands.map(({ events, ...rest }) => ({ ...rest, events: events.length }));
    writeFileSync(join(evidence, `commands-${files}.ndjson`), commands.map((each) => JSON.stringify(each)).join("\n"));
    writeFileSync(join(evidence, "violations.json"), JSON.stringify([...violations.values()], null, 2));
    yard.keep(evidence);
  };
  const dice = createDice(seed);
  try {
    for (let left = seconds * 1_000; left > 0 && !signal.aborted; left -= PHASE_MS) {
      const name = `p${counts.phases + 1}`;
      const since = Date.now();
      await playPhase(yard, works, {
        seed: dice.whole(0, 2 ** 31),
        name,
        ms: Math.min(left, PHASE_MS),
        faults,
        signal,
      });
      await calm(yard, works);
      const { found } = checkAll(yard, works, holdings);
      addCounts(counts, countOf(history, since));
      add(found);
      say(
        `phase ${counts.phases}: ${history.faults.filter(({ at }) => at >= since).length} faults, ${history.commands.length} commands, ${found.length} violations`,
      );
      forget(yard);
      holdings.length = 0;
    }
    await sweepBrowsers(yard);
    await yard.run("stop", ["stop", "--agents"]);
    // A host that somebody started and left may just have come.
    if (yard.processes.all().length > 0) {
      await Bun.sleep(2_000);
      await yard.run("stop", ["stop", "--agents"]);
    }
    add(await checkLeft(yard));
  } finally {
    stopWatching();
    clearInterval(looking);
    endLag();
    endLoad();
    for (const { pid } of yard.processes.all()) process.kill(pid, "SIGKILL");
    yard.remove();
    await disk?.remove();
  }
  return {
    seed,
    counts,
    violations: [...violations.values()],
    stories,
    suspects: blamed,
    ...(evidence ? { evidence } : {}),
  };
}

/** Those that can be done here; what cannot is said. */
function usable(faults: readonly Fault[], disk: Disk | undefined, say: (line: string) => void): Fault[] {
  const found = faults.filter(({ name, missing }) => {
    const why = missing?.();
    if (why) say(`chaos: ${name} is left out: ${why}`);
    return !why;
  });
  return disk ? [...found, fillDisk(disk)] : found;
}

/** What was checked is not checked again; faults stay, since they explain what the journals tell for ever. */
function forget({ history, running }: Yard): void {
  const alive = new Set([...running].map(({ command }) => command));
  history.commands.splice(0, history.commands.length, ...history.commands.filter((each) => alive.has(each)));
}
