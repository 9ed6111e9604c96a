// How good are agent sessions? A prompt from start to exit, many at once, a death, a flood, what a quiet session costs, and what grows.
import { deaths } from "./agents/deaths.ts";
import { flood } from "./agents/flood.ts";
import { type GrowthSize, growth } from "./agents/growth.ts";
import { idleMemory } from "./agents/idle-memory.ts";
import { prompts } from "./agents/prompts.ts";
import { inParts, type Progress } from "./support/parts.ts";
import type { Row } from "./support/table.ts";
import type { Yard } from "./support/yard.ts";

export interface AgentsSize {
  prompts: number;
  atOnce: number;
  deaths: number;
  floods: number;
  updates: number;
  sessions: readonly number[];
  growth: GrowthSize;
}

export const FULL: AgentsSize = {
  prompts: 60,
  atOnce: 10,
  deaths: 20,
  floods: 7,
  updates: 100_000,
  sessions: [0, 100, 200],
  growth: { prompts: [3_000, 10_000], lists: 15, quietMs: 20_000 },
};

export const QUICK: AgentsSize = {
  prompts: 3,
  atOnce: 3,
  deaths: 2,
  floods: 1,
  updates: 2_000,
  sessions: [0, 5],
  growth: { prompts: [20, 40], lists: 1, quietMs: 500 },
};

export async function agents(yard: Yard, binary: string, size: AgentsSize, progress: Progress): Promise<Row[]> {
  return await inParts(progress, {
    prompts: () => prompts(yard, binary, { runs: size.prompts, atOnce: size.atOnce }),
    deaths: () => deaths(yard, binary, size.deaths),
    flood: () => flood(yard, binary, { rounds: size.floods, updates: size.updates }),
    memory: () => idleMemory(yard, binary, size.sessions),
    growth: () => growth(yard, binary, size.growth),
  });
}
