// What is a fault? Something done to a process of the yard at a moment that the dice choose.
import type { Dice } from "../../support/dice.ts";
import type { Member, Role } from "../processes.ts";
import type { Yard } from "../yard.ts";

export interface Stroke {
  yard: Yard;
  dice: Dice;
  isOver(): boolean;
  /** The pid of whoever listens next, if somebody does in time. */
  nextHost(notThis: number | undefined, withinMs: number): Promise<number | undefined>;
  /** Things that end later than the stroke: waited for when all is over. */
  later(work: Promise<void>): void;
}

export interface Fault {
  name: string;
  says: string;
  /** How often it is chosen, beside the others. */
  weight: number;
  /** Why it cannot be done here. */
  missing?(): string | undefined;
  strike(stroke: Stroke): Promise<void>;
}

export const victim = ({ yard, dice }: Stroke, role: Role): Member | undefined => {
  const found = yard.processes.members(role);
  return found.length > 0 ? dice.pick(found) : undefined;
};

/** Dead at once, and told in the history. */
export function kill({ yard }: Stroke, name: string, role: Role, pid: number): void {
  if (yard.signal(pid, "SIGKILL")) yard.history.fault({ name, what: `kill ${role}`, pid });
}

/** Stopped, and continued whatever happens. */
export async function freeze({ yard }: Stroke, name: string, role: Role, pid: number, ms: number): Promise<void> {
  if (!yard.signal(pid, "SIGSTOP")) return;
  const done = yard.history.fault({ name, what: `freeze ${role}`, pid, until: Number.POSITIVE_INFINITY });
  await Bun.sleep(ms);
  yard.signal(pid, "SIGCONT");
  done.until = Date.now();
}
