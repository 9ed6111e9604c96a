// How good is the bridge? Speed, takeover, memory and start-up, each beside the least that it could cost.
import { memory } from "./bridge/memory.ts";
import { relaying } from "./bridge/relaying.ts";
import { startUp } from "./bridge/start-up.ts";
import { crashes, farewells } from "./bridge/takeover.ts";
import type { Row } from "./support/table.ts";
import type { Yard } from "./support/yard.ts";

export interface BridgeSize {
  rounds: number;
  roundMs: number;
  deaths: number;
  lines: readonly number[];
  plugins: readonly number[];
  starts: number;
}

export const FULL: BridgeSize = {
  // Many short rounds: what else the machine does then falls on both.
  rounds: 31,
  roundMs: 250,
  deaths: 50,
  lines: [1, 5],
  plugins: [0, 100, 200],
  starts: 40,
};

export const QUICK: BridgeSize = { rounds: 1, roundMs: 100, deaths: 2, lines: [1, 2], plugins: [0, 5], starts: 3 };

export async function bridge(
  yard: Yard,
  binary: string,
  size: BridgeSize,
  progress: (part: string) => void,
): Promise<Row[]> {
  const { rounds, roundMs, deaths, lines, plugins, starts } = size;
  const rows: Row[] = [];
  const part = async (name: string, measure: () => Promise<Row[]>): Promise<void> => {
    progress(name);
    rows.push(...(await measure()));
  };
  // First: nothing else of ours runs yet.
  await part("start-up", () => startUp(yard, binary, starts));
  await part("relaying", () => relaying(yard, binary, { rounds, roundMs }));
  for (const standing of lines) {
    await part(`crashes with ${standing} in line`, () => crashes(yard, binary, { standing, deaths }));
  }
  for (const standing of lines) {
    await part(`farewells with ${standing} in line`, () => farewells(yard, binary, { standing, deaths }));
  }
  await part("memory", () => memory(yard, binary, plugins));
  return rows;
}
