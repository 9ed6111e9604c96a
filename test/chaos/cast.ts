// Who acts in a phase, and who throws stones? All of them at once, until it is over; then everybody is let go.
import { createDice } from "../support/dice.ts";
import { edit } from "./actors/editor.ts";
import { keepLine } from "./actors/line.ts";
import type { Actor, Scene } from "./actors/scene.ts";
import { sendShort, useSession } from "./actors/sessions.ts";
import { callTools, execute, keepPlugin } from "./actors/tools.ts";
import { poll, view } from "./actors/viewers.ts";
import { surf } from "./actors/web.ts";
import type { Fault, Stroke } from "./faults/fault.ts";
import { pickFault } from "./faults/table.ts";
import type { Works } from "./work.ts";
import type { Yard } from "./yard.ts";

export interface PhaseOptions {
  seed: number;
  /** In the names of its sessions. */
  name: string;
  ms: number;
  faults: readonly Fault[];
  signal: AbortSignal;
}

export const SESSIONS = 4;

const castOf = (name: string): Actor[] => [
  keepLine,
  ...Array.from({ length: SESSIONS }, (_, at) => useSession(`${name}-${at + 1}`)),
  sendShort,
  view,
  view,
  poll,
  poll,
  keepPlugin,
  execute,
  execute,
  edit,
  callTools,
  surf,
];

/** Between two strokes; now and then a quiet spell, in which something may come to its end. */
const QUIET_MS = 1_500;

export async function playPhase(yard: Yard, works: Works, options: PhaseOptions): Promise<void> {
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;
  const end = (): void => over.abort();
  const timer = setTimeout(end, options.ms);
  options.signal.addEventListener("abort", end, { once: true });
  if (options.signal.aborted) end();
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (isOver()) return resolve();
      const wake = setTimeout(done, ms);
      function done(): void {
        clearTimeout(wake);
        over.signal.removeEventListener("abort", done);
        resolve();
      }
      over.signal.addEventListener("abort", done, { once: true });
    });
  const sessions: string[] = [];
  const atEnd: (() => void)[] = [];
  const root = createDice(options.seed);
  const actors = castOf(options.name).map((actor) => {
    const scene: Scene = {
      yard,
      works,
      dice: createDice(root.whole(0, 2 ** 31)),
      isOver,
      pause,
      sessions,
      onOver: (work) => void atEnd.push(work),
    };
    return actor(scene);
  });
  const dice = createDice(root.whole(0, 2 ** 31));
  const latest: Promise<void>[] = [];
  const stroke: Stroke = {
    yard,
    dice,
    isOver,
    async nextHost(notThis, withinMs) {
      const until = performance.now() + withinMs;
      for (const seen = yard.history.promotions.length; performance.now() < until; await Bun.sleep(3)) {
        const found = yard.history.promotions.slice(seen).find(({ pid }) => pid !== notThis);
        if (found) return found.pid;
      }
      return undefined;
    },
    later: (work) => void latest.push(work),
  };
  await pause(700);
  while (!isOver() && options.faults.length > 0) {
    await pickFault(dice, options.faults).strike(stroke);
    await pause(dice.chance(0.08) ? QUIET_MS : dice.between(0, 180));
  }
  await pause(options.ms);
  clearTimeout(timer);
  await Promise.all(latest);
  for (const { pid } of yard.processes.all()) process.kill(pid, "SIGCONT");
  await Promise.all(actors);
  for (const work of atEnd) work();
  await Promise.all([...yard.running].map(({ ended }) => ended));
}
