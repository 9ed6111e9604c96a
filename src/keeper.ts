// What is a keeper process? The same binary with a hidden verb; it loads as little as it can, for there are many of them.
import { homeOfKeeper } from "./keeper/homes.ts";
import { keep } from "./keeper/keeper.ts";
import { placeAt } from "./keeper/place.ts";
import { taskOf } from "./keeper/task.ts";
import { systemClock } from "./platform/clock.ts";
import { systemFiles } from "./platform/files.ts";
import { adoptHeld, startHeld } from "./platform/held-agent.ts";
import { listenLines } from "./platform/line-socket.ts";
import { createFileLog } from "./platform/log.ts";
import { isDead, ownMark } from "./platform/processes.ts";
import { holdShared } from "./platform/shared-lock.ts";
import { becomeSubreaper } from "./platform/subreaper.ts";
import { whereabouts } from "./platform/whereabouts.ts";

/** Resolves when there is nothing left to keep. */
export async function runKeeper(directory: string): Promise<void> {
  const place = placeAt(systemFiles, directory);
  const spec = place.spec();
  if (!spec) throw new Error(`"${directory}" holds nothing to keep`);
  const home = homeOfKeeper(directory, spec, whereabouts());
  // By its numbers it would be dead, and we would be its second keeper.
  if (home.isElsewhere) return;
  if (home.file !== undefined) holdShared(home.file);
  const self = ownMark();
  if (!place.claim(self, isDead)) return;
  // Not before it is our turn: the one ahead may have written it last.
  const task = taskOf(place.state(), isDead);
  if (task.kind === "leave") return;
  await keep({
    clock: systemClock,
    files: systemFiles,
    log: createFileLog(systemClock, `${directory}/log`),
    place,
    spec,
    earlier: task.kind === "adopt" ? task.earlier : undefined,
    self,
    hold: () => {
      const kin = { strays: task.kind === "adopt" ? (task.earlier.strays ?? []) : [], subreaper: becomeSubreaper() };
      return task.kind === "adopt"
        ? adoptHeld(systemClock, directory, spec.tag, task, kin)
        : startHeld(systemClock, directory, spec, kin);
    },
    listen: listenLines,
  });
}
