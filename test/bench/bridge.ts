// How good is the bridge? Speed, takeover, memory and start-up, each beside the least that it could cost.
import { memory } from "./bridge/memory.ts";
import { relaying } from "./bridge/relaying.ts";
import { startUp } from "./bridge/start-up.ts";
import { crashes, farewells } from "./bridge/takeover.ts";
import { inParts, type Progress } from "./support/parts.ts";
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

export async function bridge(yard: Yard, binary: string, size: BridgeSize, progress: Progress): Promise<Row[]> {
  const { rounds, roundMs, deaths, lines, plugins, starts } = size;
  const inLine = (what: string, measure: typeof crashes): Record<string, () => Promise<Row[]>> =>
    Object.fromEntries(
      lines.map((standing) => [`${what} with ${standing} in line`, () => measure(yard, binary, { standing, deaths })]),
    );
  return await inParts(progress, {
    // First: nothing else of ours runs yet.
    "start-up": () => startUp(yard, binary, starts),
    relaying: () => relaying(yard, binary, { rounds, roundMs }),
    ...inLine("crashes", crashes),
    ...inLine("farewells", farewells),
    memory: () => memory(yard, binary, plugins),
  });
}
