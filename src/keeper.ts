// What is a keeper process? The same binary with a hidden verb; it loads as little as it can, for there are many of them.
import { keep } from "./keeper/keeper.ts";
import { placeAt } from "./keeper/place.ts";
import { systemClock } from "./platform/clock.ts";
import { systemFiles } from "./platform/files.ts";
import { adoptHeld, startHeld } from "./platform/held-agent.ts";
import { listenLines } from "./platform/line-socket.ts";
import { createFileLog } from "./platform/log.ts";
import { isDead, ownMark } from "./platform/processes.ts";
import { becomeSubreaper } from "./platform/subreaper.ts";

/** Resolves when there is nothing left to keep. */
export async function runKeeper(directory: string): Promise<void> {
  const place = placeAt(systemFiles, directory);
  const spec = place.spec();
  if (!spec) throw new Error(`"${directory}" holds nothing to keep`);
  const self = ownMark();
  if (!place.claim(self, isDead)) return;
  // Not before it is our turn: the one ahead may have written it last.
  const state = place.state();
  const { agent, holder } = state ?? {};
  // Somebody keeps it already, or there is nothing left of it.
  if (state && (!isDead(state.keeper) || state.exit || !agent || !holder)) return;
  await keep({
    clock: systemClock,
    files: systemFiles,
    log: createFileLog(systemClock, `${directory}/log`),
    place,
    spec,
    earlier: state,
    self,
    hold: () => {
      const kin = { strays: state?.strays ?? [], subreaper: becomeSubreaper() };
      return agent && holder
        ? adoptHeld(systemClock, directory, spec.tag, { agent, holder }, kin)
        : startHeld(systemClock, directory, spec, kin);
    },
    listen: listenLines,
  });
}
