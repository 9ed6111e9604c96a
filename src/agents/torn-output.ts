// What if an agent's last line has no end? A full disk tears it; one that then says nothing more waits for ever.
import type { Cancel, Clock } from "../platform/world.ts";

export const TORN_MS = 10_000;

export interface TornOutput {
  /** There was output; `isInside`: its last line has no end yet. */
  heard(isInside: boolean): void;
}

/** `torn` is told once, when somebody waits for an answer of an agent that stopped in the middle of a line. */
export function watchTornOutput(clock: Clock, isAwaited: () => boolean, torn: () => void): TornOutput {
  let cancel: Cancel = () => {};
  const check = (): void => {
    if (isAwaited()) torn();
    else cancel = clock.after(TORN_MS, check);
  };
  return {
    heard(isInside) {
      cancel();
      cancel = isInside ? clock.after(TORN_MS, check) : () => {};
    },
  };
}
