// holdfast help: one command, or a topic.

import { Fault } from "../protocol/fault.ts";
import { text } from "../surface/argument.ts";
import { exitCodesHelp } from "../surface/exit-codes.ts";
import { helpFor } from "../surface/help.ts";
import { overview } from "../surface/overview.ts";
import { nearest } from "../surface/suggest.ts";
import { holdfastCommand } from "./context.ts";
import { COMMANDS } from "./table.ts";

const TOPICS: Readonly<Record<string, () => string>> = { "exit-codes": exitCodesHelp };

async function textFor(topic: string | undefined): Promise<string> {
  if (topic === undefined) return overview(COMMANDS);
  const entry = Object.hasOwn(COMMANDS, topic) ? COMMANDS[topic] : undefined;
  if (entry) return helpFor(await entry.load(), entry.summary);
  const made = Object.hasOwn(TOPICS, topic) ? TOPICS[topic] : undefined;
  if (made) return made();
  const close = nearest(topic, [...Object.keys(COMMANDS), ...Object.keys(TOPICS)]);
  const hint = close ? `did you mean "${close}"?` : "holdfast help lists the commands";
  throw new Fault("USAGE", `There is no help on "${topic}"; ${hint}`, { argument: "TOPIC", value: topic });
}

export const help = holdfastCommand({
  name: "help",
  args: { topic: text("A command, or exit-codes", { optional: true }) },
  positionals: ["topic"],
  examples: [
    { line: "holdfast help exec", says: "How exec is used" },
    { line: "holdfast help exit-codes", says: "What each exit code means" },
  ],
  async run({ topic }, { printer }) {
    const text = await textFor(topic);
    printer.json({ help: text });
    printer.line(text.trimEnd());
    return 0;
  },
});
