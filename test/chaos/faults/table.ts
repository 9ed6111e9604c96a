// Which faults are there? One table; --faults chooses from it by name, or by the first word of several.
import type { Dice } from "../../support/dice.ts";
import type { Fault } from "./fault.ts";
import { KILLS } from "./kills.ts";
import { LEAVES } from "./leave.ts";
import { ODD } from "./odd.ts";

export const FAULTS: readonly Fault[] = [...KILLS, ...LEAVES, ...ODD];

/** Those of these names; `kill` stands for all that begin with `kill-`. */
export function chosenFaults(names: readonly string[], all: readonly Fault[] = FAULTS): Fault[] {
  const chosen = new Set<Fault>();
  for (const name of names) {
    const found = all.filter((fault) => fault.name === name || fault.name.startsWith(`${name}-`));
    if (found.length === 0)
      throw new Error(`There is no fault "${name}"; there are: ${all.map((f) => f.name).join(", ")}`);
    for (const fault of found) chosen.add(fault);
  }
  return [...chosen];
}

export function pickFault(dice: Dice, faults: readonly Fault[]): Fault {
  let left = dice.roll() * faults.reduce((sum, { weight }) => sum + weight, 0);
  for (const fault of faults) {
    left -= fault.weight;
    if (left < 0) return fault;
  }
  return faults.at(-1) as Fault;
}
