// The host that a command starts for itself and others: nobody watches it, and it ends when nobody needs it.
import { createFileLog } from "../platform/log.ts";
import { Fault, stackOf } from "../protocol/fault.ts";
import { holdfastCommand } from "./context.ts";
import { stayUntilTold } from "./hosting.ts";
import { ownSettings } from "./own-settings.ts";

export const backgroundHost = holdfastCommand({
  name: "background-host",
  args: {},
  examples: [{ line: "holdfast background-host", says: "What exec, sessions and others start when no host runs" }],
  endsItself: true,
  stands: () => true,
  async run({ port }, context) {
    const logFile = context.state.logFile(port);
    const log = createFileLog(context.world.clock, logFile);
    try {
      const own = ownSettings({ ...context, config: await context.config() });
      const listener = { notice: (message: string) => log.warn(message) };
      return await stayUntilTold(
        context,
        { log, port, mode: "host", background: true, own, logFile, listener },
        (type, data) => log.info(type, data),
      );
    } catch (thrown) {
      // Another one won: whoever started us joins that one.
      if (thrown instanceof Fault && thrown.code === "PORT_HELD" && thrown.data["pid"]) return 0;
      log.warn(stackOf(thrown));
      throw thrown;
    }
  },
});
