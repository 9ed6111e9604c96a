// How good are keepers? The gap that a client sees, what a file costs against a pipe, memory, a long history, and many sessions.
import { adoption } from "./keeper/adoption.ts";
import { gaps } from "./keeper/gap.ts";
import { keeperMemory } from "./keeper/keeper-memory.ts";
import { lines } from "./keeper/lines.ts";
import { type ManySessionsSize, manySessions } from "./keeper/many-sessions.ts";
import { inParts, type Progress } from "./support/parts.ts";
import type { Row } from "./support/table.ts";
import type { Yard } from "./support/yard.ts";

export interface KeeperSize {
  standby: number;
  cold: number;
  rounds: number;
  updates: number;
  keepers: number;
  mib: number;
  deaths: number;
  many: ManySessionsSize;
}

export const FULL: KeeperSize = {
  standby: 60,
  cold: 40,
  rounds: 7,
  updates: 100_000,
  keepers: 3,
  mib: 200,
  deaths: 9,
  many: { sessions: 200, deaths: 21, restMs: 15_000 },
};

export const QUICK: KeeperSize = {
  standby: 2,
  cold: 2,
  rounds: 1,
  updates: 2_000,
  keepers: 1,
  mib: 1,
  deaths: 1,
  many: { sessions: 5, deaths: 1, restMs: 0 },
};

export async function keeper(yard: Yard, binary: string, size: KeeperSize, progress: Progress): Promise<Row[]> {
  return await inParts(progress, {
    gaps: () => gaps(yard, binary, size),
    lines: () => lines(yard, binary, size),
    memory: () => keeperMemory(yard, binary, size.keepers),
    adoption: () => adoption(yard, binary, size),
    sessions: () => manySessions(yard, binary, size.many),
  });
}
