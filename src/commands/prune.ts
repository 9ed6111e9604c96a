// holdfast prune: remove journals of sessions that nobody uses any more.

import { retentionOf } from "../core/prune.ts";
import { duration, whole } from "../surface/argument.ts";
import { askOnce, onceArgs } from "./agent-session.ts";
import { holdfastCommand } from "./context.ts";

const MIB = 1024 * 1024;

export const prune = holdfastCommand({
  name: "prune",
  args: {
    olderThan: duration("Remove what nobody touched for so long (default: JOURNAL_MAX_AGE_MS, 720h)", {
      optional: true,
    }),
    keepMib: whole("Then remove the oldest until no more than this is left (default: JOURNAL_MAX_BYTES, 1024)", {
      min: 0,
      optional: true,
    }),
    ...onceArgs,
  },
  examples: [{ line: "holdfast prune --older-than 168h", says: "Journals of sessions that were quiet for a week" }],
  details:
    "Sessions in use are never removed. A host does this by itself with the defaults when it starts, and once a day.",
  async run(args, context) {
    const { olderThan, keepMib } = args;
    const usual = retentionOf(await context.config());
    const maxAgeMs = olderThan ?? usual.maxAgeMs;
    const maxBytes = keepMib === undefined ? usual.maxBytes : keepMib * MIB;
    const answer = await askOnce(context, args, { verb: "prune", maxAgeMs, maxBytes });
    const { removed, bytes } = answer as { removed: string[]; bytes: number };
    context.printer.json({ removed, bytes });
    for (const name of removed) context.printer.line(`Removed ${name}`);
    context.printer.line(`${removed.length} journals, ${(bytes / MIB).toFixed(1)} MiB`);
    return 0;
  },
});
