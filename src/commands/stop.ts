// holdfast stop: the host leaves in good order, and whoever stands in line takes over.
import type { BridgeConnection } from "../bridge/connection.ts";
import { HostUnreachableError } from "../protocol/fault.ts";
import { listAgentSessions } from "./agent-list.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { timeLimitArg, within } from "./time-limit.ts";

const POLL_MS = 10;

export const stop = holdfastCommand({
  name: "stop",
  args: { timeout: timeLimitArg },
  examples: [{ line: "holdfast stop", says: "Ends the host; a standby becomes the next one" }],
  details: "Exit code 0 also when no host runs: there is nothing left to stop.",
  async run({ port, timeout }, context) {
    return await within(context, timeout, stopHost(context, port));
  },
});

async function stopHost(context: Context, port: number): Promise<number> {
  const { printer } = context;
  const connection = await context.open({ port, mode: "command" }).catch((thrown) => {
    if (thrown instanceof HostUnreachableError && thrown.data["nobody"]) return undefined;
    throw thrown;
  });
  if (!connection) {
    printer.json({ stopped: null, next: null, cut: [] });
    printer.note(`No host runs on port ${port}`);
    return 0;
  }
  const next = nextHost(connection);
  const working = printer.progress("Waiting for the host to leave");
  const cut = (await listAgentSessions(connection)).filter(({ turn }) => turn !== "idle").map(({ name }) => name);
  const { pid } = await connection.stopHost();
  const nextPid = await next;
  // It handed on its port; it is gone when its agents are.
  while (context.isRunning(pid)) await context.world.clock.sleep(POLL_MS);
  working.done();
  printer.json({ stopped: pid, next: nextPid, cut });
  for (const name of cut) printer.note(`Session ${name} was working: how its turn ended is unknown`, "yellow");
  printer.line(nextPid === null ? `Host ${pid} stopped` : `Host ${pid} stopped; ${nextPid} took over`);
  return 0;
}

/** The pid of whoever hosts next; null when nobody does. */
const nextHost = (connection: BridgeConnection): Promise<number | null> =>
  new Promise((resolve) => {
    connection.on("host-found", ({ hostPid }) => resolve(hostPid));
    connection.on("ended", () => resolve(null));
  });
