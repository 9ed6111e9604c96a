// What can the doctor mend without asking? Modes of your own files, and what dead agents left on ports without a host.
import { join } from "node:path";
import type { Checkup } from "../../platform/checkup.ts";
import { messageOf } from "../../protocol/fault.ts";
import type { Context } from "../context.ts";
import { counted, type Finding, ok, problem } from "./finding.ts";
import { isLeftover, keptPorts } from "./keepers.ts";
import { closedMode, isTooOpen } from "./modes.ts";
import { isHosted } from "./port.ts";

export function closeFiles(checkup: Checkup, stateDirectory: string): Finding[] {
  return checkup
    .entries(stateDirectory)
    .filter(isTooOpen)
    .map((entry) => {
      try {
        checkup.chmod(entry.path, closedMode(entry));
        return ok("fixed", `"${entry.path}" is yours alone now`);
      } catch (thrown) {
        return problem("fixed", `"${entry.path}" cannot be closed: ${messageOf(thrown)}`);
      }
    });
}

const POLL_MS = 20;
const CLEAR_MS = 10_000;

/** A host reads what is left into the journals, removes it, and is told to go again. */
async function clearPort(context: Context, port: number, count: number): Promise<Finding> {
  const { clock, files } = context.world;
  const home = join(context.state.directory, "ports", String(port), "keepers");
  const startHost = () => context.startBackgroundHost(port);
  const connection = await context.open({ port, mode: "command", startHost });
  const deadline = clock.elapsed() + CLEAR_MS;
  while (files.list(home).length > 0 && clock.elapsed() < deadline) await clock.sleep(POLL_MS);
  const { pid } = await connection.stopHost({ agents: false });
  await connection.disconnect();
  while (context.isRunning(pid)) await clock.sleep(POLL_MS);
  const left = files.list(home).length;
  if (left > 0) return problem("fixed", `${counted(left, "leftover")} on port ${port} did not go`, `see ${home}`);
  return ok("fixed", `Cleared ${counted(count, "leftover")} on port ${port}; what was said last is in the journals`);
}

export async function clearLeftovers(context: Context, checkup: Checkup): Promise<Finding[]> {
  const done: Finding[] = [];
  for (const { port, kept } of keptPorts(context.world.files, context.state.directory, checkup)) {
    if (kept.length === 0 || !kept.every(isLeftover) || (await isHosted(context, port))) continue;
    try {
      done.push(await clearPort(context, port, kept.length));
    } catch (thrown) {
      done.push(problem("fixed", `Leftovers on port ${port} cannot be cleared: ${messageOf(thrown)}`));
    }
  }
  return done;
}
