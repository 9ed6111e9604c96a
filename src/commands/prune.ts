// holdfast prune: remove journals of sessions that nobody uses any more.

import { RETENTION } from "../core/prune.ts";
import { duration, whole } from "../surface/argument.ts";
import { askOnce, onceArgs } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

export const prune = holdfastCommand({
  name: "prune",
  args: {
    olderThan: duration(`Remove what nobody touched for so long (default: ${RETENTION.maxAgeMs / HOUR_MS}h)`, {
      optional: true,
    }),
    keepMib: whole("Then remove the oldest until no more than this is left", {
      min: 0,
      default: RETENTION.maxBytes / MIB,
    }),
    ...onceArgs,
  },
  examples: [{ line: "holdfast prune --older-than 168h", says: "Journals of sessions that were quiet for a week" }],
  details: "Sessions in use are never removed. A host does this by itself with the defaults when it starts.",
  async run(args, context) {
    const { olderThan, keepMib } = args;
    const maxAgeMs = olderThan ?? RETENTION.maxAgeMs;
    const answer = await askOnce(context, args, { verb: "prune", maxAgeMs, maxBytes: keepMib * MIB });
    const { removed, bytes } = answer as { removed: string[]; bytes: number };
    context.printer.json({ removed, bytes });
    for (const name of removed) context.printer.line(`Removed ${name}`);
    context.printer.line(`${removed.length} journals, ${(bytes / MIB).toFixed(1)} MiB`);
    return 0;
  },
});
