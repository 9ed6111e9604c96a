// holdfast serve: host in the foreground, or in line for it.
import { z } from "zod";
import { Auth } from "../protocol/settings.ts";
import { optionalValue } from "../surface/command.ts";
import { holdfastCommand } from "./context.ts";
import { stayUntilTold } from "./hosting.ts";
import { ownSettings } from "./own-settings.ts";

export const serve = holdfastCommand({
  name: "serve",
  args: z.object({
    standby: z.boolean().default(false).describe("Host if the port is free, else wait in line and take over"),
    auth: Auth.optional().describe('Who may be a client: holders of the token, or with "none" every local process'),
    pluginToken: optionalValue()
      .optional()
      .describe("Plugins must show this token; alone it takes HOLDFAST_PLUGIN_TOKEN or makes one up"),
  }),
  examples: [
    { line: "holdfast serve", says: "Host on the default port until Ctrl-C" },
    { line: "holdfast serve --standby", says: "Stand in line: take over within milliseconds when the host dies" },
    { line: "holdfast serve --port 0 --json", says: "Take a free port and print events, one JSON object per line" },
  ],
  endsItself: true,
  stands: () => true,
  async run(args, context) {
    const { printer } = context;
    const own = ownSettings(context, args);
    const mode = args.standby ? "standing" : "host";
    return await stayUntilTold(context, { port: args.port, mode, own }, (type, data, text) => {
      printer.event(type, data, { text: printer.safe(text) });
      if (type !== "started" || args.pluginToken !== true) return;
      printer.note(`Plugins connect to /plugin?token=…; it is in ${context.state.settingsFile(Number(data["port"]))}`);
    });
  },
});
