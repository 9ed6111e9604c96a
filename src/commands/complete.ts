// holdfast complete: what could come next on the line. Asked by shells: quick, and silent whatever happens.

import type { Completes } from "../surface/argument.ts";
import { list } from "../surface/argument.ts";
import { type Candidate, type Fits, whatFits } from "../surface/complete.ts";
import { DIRECTORIES, FILES } from "../surface/completion-scripts.ts";
import { TOPICS } from "../surface/topics.ts";
import { listAgentSessions } from "./agent-list.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { agentsKnownHere } from "./known-agents.ts";
import { COMMANDS } from "./table.ts";
import { within } from "./time-limit.ts";

export const complete = holdfastCommand({
  name: "complete",
  args: { words: list("The line behind holdfast, up to the word that is being typed") },
  positionals: ["words"],
  examples: [{ line: "holdfast complete -- prompt de", says: "demo, with what it is" }],
  async run({ words, port }, context) {
    const found = await candidates(context, words, port).catch(() => []);
    context.printer.json(found);
    for (const { value, says } of found) context.printer.line(says ? `${value}\t${says}` : value);
    return 0;
  },
});

const visible = (): Candidate[] =>
  Object.entries(COMMANDS).flatMap(([value, { summary, hidden }]) => (hidden ? [] : { value, says: summary }));

const FIRST_FLAGS: readonly Candidate[] = [
  { value: "--help", says: "The commands" },
  { value: "--version", says: "The version" },
];

async function candidates(context: Context, words: readonly string[], port: number): Promise<Candidate[]> {
  const [first = "", ...rest] = words;
  if (words.length <= 1) return [...visible(), ...FIRST_FLAGS].filter(({ value }) => fitsFirst(value, first));
  const entry = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  if (!entry || entry.hidden) return [];
  const fits = whatFits(await entry.load(), rest);
  return fits.kind === "candidates" ? fits.list : await names(context, fits, port);
}

/** Flags only for who has begun one. */
const fitsFirst = (value: string, typed: string): boolean =>
  value.startsWith(typed) && (typed.startsWith("-") || !value.startsWith("-"));

/** What a plugin calls itself must not become part of a command line. */
const HARMLESS = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/;

async function names(context: Context, fits: Extract<Fits, { kind: "names" }>, ownPort: number): Promise<Candidate[]> {
  const { of, typed, before, port } = fits;
  if (of === "file" || of === "directory") return [{ value: of === "file" ? FILES : DIRECTORIES, says: "" }];
  const known = await KNOWN[of](context, port === undefined ? ownPort : Number(port));
  return known
    .filter(({ value }) => HARMLESS.test(value) && value.startsWith(typed))
    .map(({ value, says }) => ({ value: before + value, says: context.printer.safe(says).replace(/\s+/g, " ") }));
}

type Know = (context: Context, port: number) => Promise<Candidate[]>;

const KNOWN: Readonly<Record<Exclude<Completes, "file" | "directory">, Know>> = {
  topic: async () => [...visible(), ...Object.entries(TOPICS).map(([value, { says }]) => ({ value, says }))],
  agent: async (context) => [...(await agentsKnownHere(context))].map(([value, says]) => ({ value, says })),
  async "agent-session"(context, port) {
    // Only those in use: every prompt without a name leaves a closed one.
    return await asked(context, port, async (connection) =>
      (await listAgentSessions(connection)).map(({ name, agent, turn }) => ({
        value: name,
        says: `${agent}, ${turn}`,
      })),
    );
  },
  async "plugin-session"(context, port) {
    return await asked(context, port, async (connection) =>
      connection.listSessions().map(({ sessionId, instanceId, placeName }) => ({
        value: sessionId,
        says: `${instanceId}, ${placeName}`,
      })),
    );
  },
  async instance(context, port) {
    return await asked(context, port, async (connection) => {
      const all = connection.listSessions().map(({ instanceId, placeName }) => [instanceId, placeName] as const);
      return [...new Map(all)].map(([value, says]) => ({ value, says }));
    });
  },
};

const PROBE_MS = 300;
const ASK_MS = 1_000;

async function asked(
  context: Context,
  port: number,
  ask: (connection: Awaited<ReturnType<Context["open"]>>) => Promise<Candidate[]>,
): Promise<Candidate[]> {
  const { kind } = await context.world.net.probe(port, PROBE_MS);
  if (kind !== "answer") return [];
  const quiet = { info() {}, warn() {} };
  const look = async () => ask(await context.open({ port, mode: "command", log: quiet, listener: { notice() {} } }));
  return await within(context, ASK_MS, look());
}
