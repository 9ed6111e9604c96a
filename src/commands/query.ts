// holdfast query: read a plugin's objects.
import { text, whole } from "../surface/argument.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { askAgain, sessionArgs, timeoutArg } from "./plugin-session.ts";

const MAX_DEPTH = 8;

interface Instance {
  name?: unknown;
  className?: unknown;
  properties?: Record<string, unknown>;
  childCount?: unknown;
  children?: Instance[];
}

export const query = holdfastCommand({
  name: "query",
  args: {
    path: text("Where to look, such as config.users[0]; in Roblox Workspace.Part"),
    depth: whole("How many levels of children to show", { min: 0, max: MAX_DEPTH, default: 0 }),
    find: text("Look for a child of this name below the path", { optional: true }),
    ...sessionArgs,
    timeout: timeoutArg("queryDataModel"),
  },
  positionals: ["path"],
  short: { s: "session", d: "depth" },
  examples: [{ line: "holdfast query globalThis --depth 1", says: "The global objects of a JavaScript plugin" }],
  async run(args, context) {
    const { path, depth } = args;
    const payload = { path, depth, ...(args.find === undefined ? {} : { find: { name: args.find, recursive: true } }) };
    const found = await askAgain(context, args, "queryDataModel", (session, timeoutMs) =>
      session.queryDataModel(payload, { timeoutMs }),
    );
    context.printer.json(found);
    show(context, (found["instance"] ?? {}) as Instance, "");
    return 0;
  },
});

function show(context: Context, instance: Instance, indent: string): void {
  const { printer } = context;
  const { paint, safe } = printer;
  const kind = paint.dim(`(${safe(String(instance.className))})`);
  printer.line(`${indent}${paint.bold(safe(String(instance.name)))} ${kind}`);
  for (const [key, value] of Object.entries(instance.properties ?? {})) {
    printer.line(`${indent}  ${safe(key)} = ${safe(JSON.stringify(value))}`);
  }
  const children = instance.children ?? [];
  for (const child of children) show(context, child, `${indent}  `);
  const hidden = Number(instance.childCount ?? 0) - children.length;
  if (hidden > 0) printer.line(paint.dim(`${indent}  … ${hidden} more below, see --depth`));
}
