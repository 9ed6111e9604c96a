// holdfast version: which one is this?
import { PROTOCOL_VERSION, VERSION } from "../protocol/version.ts";
import { holdfastCommand } from "./context.ts";

export const version = holdfastCommand({
  name: "version",
  args: {},
  examples: [{ line: "holdfast version", says: "The version of this binary" }],
  async run(_, { printer }) {
    printer.json({ version: VERSION, protocolVersion: PROTOCOL_VERSION });
    printer.line(`holdfast ${VERSION}`);
    return 0;
  },
});
