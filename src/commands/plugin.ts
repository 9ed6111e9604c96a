// holdfast plugin js: a JavaScript session that comes back to whoever hosts.
import { OUR_BACKOFF } from "../core/plugin-life.ts";
import { createJsPlugin } from "../plugin/js-plugin.ts";
import { startPluginClient } from "../plugin/plugin-client.ts";
import { VERSION } from "../protocol/version.ts";
import { CONTEXTS } from "../protocol/vocabulary.ts";
import { choice, duration, text } from "../surface/argument.ts";
import { holdfastCommand } from "./context.ts";

const ID_LETTERS = 8;

export const plugin = holdfastCommand({
  name: "plugin",
  args: {
    kind: choice("Which built-in plugin", ["js"]),
    name: text("The name that sessions shows", { default: "JavaScript" }),
    instance: text("The lasting id of this installation (default: a new one)", { optional: true }),
    context: choice("The context it offers", CONTEXTS, { default: "edit" }),
    deadline: duration("A script that runs longer is ended, and the state starts afresh", { default: "30s" }),
  },
  positionals: ["kind"],
  examples: [
    { line: "holdfast plugin js", says: "Offer a JavaScript session; then: holdfast exec '1 + 1'" },
    { line: "holdfast plugin js --instance build-box --context server", says: "With an identity of its own" },
  ],
  endsItself: true,
  stands: () => true,
  async run(args, context) {
    const { printer, signal, state, world } = context;
    const { port, name: placeName } = args;
    const instanceId = args.instance ?? `js-${world.newId().slice(0, ID_LETTERS)}`;
    const actions = createJsPlugin({
      clock: world.clock,
      deadlineMs: args.deadline,
      placeName,
      push: (message) => client.push(message),
    });
    const tell = (type: string, data: Record<string, unknown>, text: string) =>
      printer.event(type, data, { text: printer.safe(text) });
    // Before anything is said: without it nobody is believed.
    const token = state.token();
    tell("started", { instanceId, port }, `JavaScript plugin ${instanceId}, looking for a host on port ${port}`);
    const client = startPluginClient(world, {
      port,
      token,
      identity: { instanceId, context: args.context, placeName, pluginVersion: VERSION },
      backoff: OUR_BACKOFF,
      actions,
      signal,
      refusesStrangers: true,
      changed({ state: now }, sessionId) {
        const data = now === "connected" ? { instanceId, sessionId } : { instanceId };
        tell(now, data, now === "connected" ? `Connected as session ${sessionId}` : `The plugin is ${now}`);
      },
      notice: (message) => printer.note(message, "yellow"),
    });
    try {
      await client.ended;
    } finally {
      actions.end();
    }
    tell("stopped", { instanceId }, "Stopped");
    return 0;
  },
});
