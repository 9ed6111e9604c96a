// holdfast serve: host in the foreground, or in line for it.
import { AUTHS } from "../protocol/settings.ts";
import { choice, optionalValue, toggle } from "../surface/argument.ts";
import { holdfastCommand } from "./context.ts";
import { stayUntilTold } from "./hosting.ts";
import { ownSettings } from "./own-settings.ts";

export const serve = holdfastCommand({
  name: "serve",
  args: {
    standby: toggle("Host if the port is free, else wait in line and take over"),
    auth: choice('Who may be a client: holders of the token, or with "none" every local process', AUTHS, {
      optional: true,
    }),
    pluginToken: optionalValue("Plugins must show this token; alone it takes HOLDFAST_PLUGIN_TOKEN or makes one up"),
  },
  examples: [
    { line: "holdfast serve", says: "Host on the default port until Ctrl-C" },
    { line: "holdfast serve --standby", says: "Stand in line: take over within milliseconds when the host dies" },
    { line: "holdfast serve --port 0 --json", says: "Take a free port and print events, one JSON object per line" },
  ],
  endsItself: true,
  stands: () => true,
  async run(args, context) {
    const { printer, env, world } = context;
    const own = ownSettings({ env, world, config: await context.config() }, args);
    const mode = args.standby ? "standing" : "host";
    return await stayUntilTold(context, { port: args.port, mode, own }, (type, data, text) => {
      printer.event(type, data, { text: printer.safe(text) });
      if (type !== "started" || args.pluginToken !== true) return;
      printer.note(`Plugins connect to /plugin?token=…; it is in ${context.state.settingsFile(Number(data["port"]))}`);
    });
  },
});
