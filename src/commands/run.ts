// holdfast run: a file's code in a plugin.

import { Fault } from "../protocol/fault.ts";
import { whyOf } from "../protocol/file-fault.ts";
import { text } from "../surface/argument.ts";
import { holdfastCommand } from "./context.ts";
import { execute } from "./exec.ts";
import { sessionArgs, timeoutArg } from "./plugin-session.ts";

export const run = holdfastCommand({
  name: "run",
  args: {
    file: text("The file with the code; - reads stdin", { completes: "file" }),
    ...sessionArgs,
    timeout: timeoutArg("execute"),
  },
  positionals: ["file"],
  short: { s: "session" },
  examples: [{ line: "holdfast run ./script.js", says: "Executes the file in the only connected plugin" }],
  async run(args, context) {
    const read = async () => (args.file === "-" ? await context.readStdin() : await context.readFile(args.file));
    const script = await read().catch((thrown) => {
      throw new Fault("USAGE", `Argument FILE: "${args.file}" cannot be read: ${whyOf(thrown)}`, {}, { cause: thrown });
    });
    return await execute(context, args, script);
  },
});
