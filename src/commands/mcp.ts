// holdfast mcp: an MCP server on stdio. Its tools are the commands that the table offers to programs.
import { readInput } from "../platform/stdio.ts";
import { createStreamOut } from "../platform/stream-out.ts";
import { createLineSplitter } from "../rpc/lines.ts";
import type { Shape } from "../surface/argument.ts";
import { argsOfTool, toolOf } from "../surface/tools.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { createMcpServer, type Tools } from "./mcp/server.ts";
import { noStartArg } from "./plugin-session.ts";
import { COMMANDS } from "./table.ts";

export const mcp = holdfastCommand({
  name: "mcp",
  args: { noStart: noStartArg },
  examples: [{ line: "holdfast mcp", says: "What an agent runs to drive plugins, agents and browsers" }],
  details:
    'Speaks the Model Context Protocol on stdin and stdout. In the config, "mcpServers": ["holdfast"] of an agent gives it to all its sessions.',
  endsItself: true,
  async run(args, context) {
    const { signal, printer, world } = context;
    const gone = new AbortController();
    const over = AbortSignal.any([signal, gone.signal]);
    const { out } = createStreamOut(
      () => gone.abort(),
      () => printer.note("Nobody reads the answers; what comes now is dropped"),
    );
    const server = createMcpServer({
      clock: world.clock,
      tools: toolsOf(context, args),
      write: (line) => out(`${line}\n`),
      note: (said) => printer.note(said),
    });
    const splitter = createLineSplitter({
      line: (line) => server.receive(line),
      tooLong: (bytes) => printer.note(`A line of ${bytes} bytes was dropped`),
    });
    await readInput((bytes) => splitter.push(bytes), over);
    await server.end();
    return 0;
  },
});

function toolsOf(context: Context, { port, noStart }: { port: number; noStart: boolean }): Tools {
  const entryOf = (name: string) => (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined);
  return {
    list: () =>
      Promise.all(
        Object.values(COMMANDS).flatMap(({ tool, summary, load }) =>
          tool ? [load().then((command) => toolOf(command, summary, tool))] : [],
        ),
      ),
    has: (name) => entryOf(name)?.tool !== undefined,
    async call(name, values, how) {
      const entry = entryOf(name);
      const tool = entry?.tool ?? {};
      const command = await entry?.load();
      const known = command ? argsOfTool(command, tool) : {};
      const wrong = whatIsWrong(known, values);
      if (wrong)
        return { code: 2, text: "", notes: [], fault: { code: "USAGE", message: wrong, data: { tool: name } } };
      const start = command && "noStart" in command.args ? { noStart } : {};
      const format = tool.asText ? ("text" as const) : ("json" as const);
      return await context.call(name, { ...values, ...start }, { ...how, port, format });
    },
  };
}

/** What only people may give is not there for a program, and what they may leave out it may not. */
function whatIsWrong(known: Shape, values: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(values).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) return `Unknown argument "${unknown}"; there are: ${Object.keys(known).join(", ")}`;
  const missing = Object.keys(known).find((key) => known[key]?.required && (values[key] ?? undefined) === undefined);
  return missing === undefined ? undefined : `Missing argument "${missing}": ${known[missing]?.description}`;
}
