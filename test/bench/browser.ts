// How fast does a task go on? After a death and a freeze, past bad endpoints, and step by step, beside bare Playwright.
import { connecting } from "./browser/connecting.ts";
import { failovers } from "./browser/failovers.ts";
import { stepping } from "./browser/stepping.ts";
import { inParts, type Progress } from "./support/parts.ts";
import type { Row } from "./support/table.ts";
import type { Yard } from "./support/yard.ts";

export interface BrowserSize {
  deaths: number;
  freezes: number;
  connects: number;
  rounds: number;
  steps: number;
}

export const FULL: BrowserSize = { deaths: 7, freezes: 3, connects: 9, rounds: 7, steps: 20 };

export const QUICK: BrowserSize = { deaths: 1, freezes: 1, connects: 1, rounds: 1, steps: 3 };

export async function browser(yard: Yard, binary: string, size: BrowserSize, progress: Progress): Promise<Row[]> {
  return await inParts(progress, {
    failovers: () => failovers(yard, binary, size),
    connecting: () => connecting(size.connects),
    steps: () => stepping(size),
  });
}
