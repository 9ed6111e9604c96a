// What grows with use? A host's memory over thousands of prompts, and the time that a list of closed sessions takes.
import { timeOf } from "../support/empty-program.ts";
import { inTurns } from "../support/in-turns.ts";
import { memoryOf } from "../support/memory-of.ts";
import { atMostTimes, ms, type Row, told } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";
import { manyPrompts } from "./many-prompts.ts";
import { startWarmHost, type WarmHost } from "./warm-host.ts";

export interface GrowthSize {
  /** Memory is looked at after so many prompts, and again after so many. */
  prompts: readonly [first: number, last: number];
  /** How often closed sessions are listed. */
  lists: number;
  quietMs: number;
}

const GROWS_AT_MOST = 1.25;
const LISTS_AT_MOST = 3;
const FEW_CLOSED = 10;
const LOOK_EACH_MS = 500;

/** The least of a quiet time: what is more is garbage that nobody has collected yet. */
async function settled({ child }: WarmHost, quietMs: number): Promise<number | undefined> {
  let least: number | undefined;
  for (let waited = 0; waited < quietMs; waited += LOOK_EACH_MS) {
    await Bun.sleep(LOOK_EACH_MS);
    const own = memoryOf(child.pid)?.own;
    if (own !== undefined) least = Math.min(least ?? own, own);
  }
  return least;
}

const manyOn = (yard: Yard, host: WarmHost) => manyPrompts(yard, Number(host.command().at(-1)));

async function memory(
  yard: Yard,
  host: WarmHost,
  { prompts: [first, last], quietMs }: GrowthSize,
  session?: string,
): Promise<Row> {
  const many = manyOn(yard, host);
  await many.ask(first, session);
  const before = await settled(host, quietMs);
  await many.ask(last - first, session);
  const after = await settled(host, quietMs);
  const what = `Host's memory, ${last} prompts${session ? " of one session" : ""}, to ${first}`;
  if (before === undefined || after === undefined) return told(what, "unknown", "this system does not tell");
  const note = `private ${before.toFixed(1)} and ${after.toFixed(1)} MiB, when it is quiet`;
  return atMostTimes(what, GROWS_AT_MOST, after / before, note);
}

async function lists(yard: Yard, host: WarmHost, { prompts: [, count], lists: runs }: GrowthSize): Promise<Row> {
  const fresh = await startWarmHost(yard, host.binary);
  await manyOn(yard, fresh).ask(FEW_CLOSED);
  const list = (on: WarmHost) => async () => timeOf(on.command("sessions", "--all"), yard.env);
  const { bare, ours, ratio } = await inTurns(runs, list(fresh), list(host));
  await fresh.end();
  const what = `sessions --all with ${count} closed ones, to ${FEW_CLOSED}`;
  return atMostTimes(what, LISTS_AT_MOST, ratio, `${ms(bare)} and ${ms(ours)}`);
}

export async function growth(yard: Yard, binary: string, size: GrowthSize): Promise<Row[]> {
  const host = await startWarmHost(yard, binary);
  const rows = [await memory(yard, host, size), await lists(yard, host, size)];
  await host.end();
  const other = await startWarmHost(yard, binary);
  rows.push(await memory(yard, other, size, "work"));
  await other.end();
  return rows;
}
