// When are old sessions removed? Some time after the start, since whoever takes over has more urgent things to do, and daily.
import type { Cancel, Clock, Log } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";

const PRUNE_AFTER_MS = 10_000;
const PRUNE_EACH_MS = 24 * 3_600_000;

/** Returns how to end it. */
export function pruneDaily({ clock, log }: { clock: Clock; log: Log }, prune: () => void): Cancel {
  const run = (): void => {
    try {
      prune();
    } catch (thrown) {
      log.warn(`Old sessions were not removed: ${messageOf(thrown)}`);
    }
    cancel = clock.after(PRUNE_EACH_MS, run);
  };
  let cancel = clock.after(PRUNE_AFTER_MS, run);
  return () => cancel();
}
