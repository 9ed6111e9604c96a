// holdfast help: one command, or a topic.

import { Fault } from "../protocol/fault.ts";
import { text } from "../surface/argument.ts";
import { helpFor } from "../surface/help.ts";
import { overview } from "../surface/overview.ts";
import { nearest } from "../surface/suggest.ts";
import { TOPICS } from "../surface/topics.ts";
import { holdfastCommand } from "./context.ts";
import { COMMANDS } from "./table.ts";

async function textFor(topic: string | undefined): Promise<string> {
  if (topic === undefined) return overview(COMMANDS);
  const entry = Object.hasOwn(COMMANDS, topic) ? COMMANDS[topic] : undefined;
  if (entry) return helpFor(await entry.load(), entry.summary);
  const made = Object.hasOwn(TOPICS, topic) ? TOPICS[topic] : undefined;
  if (made) return made.text();
  const close = nearest(topic, [...Object.keys(COMMANDS), ...Object.keys(TOPICS)]);
  const hint = close
    ? `did you mean "${close}"?`
    : `holdfast help lists the commands; topics are ${Object.keys(TOPICS).join(", ")}`;
  throw new Fault("USAGE", `There is no help on "${topic}"; ${hint}`, { argument: "TOPIC", value: topic });
}

export const help = holdfastCommand({
  name: "help",
  args: {
    topic: text(`A command, or one of ${Object.keys(TOPICS).join(", ")}`, { optional: true, completes: "topic" }),
  },
  positionals: ["topic"],
  examples: [
    { line: "holdfast help exec", says: "How exec is used" },
    { line: "holdfast help exit-codes", says: "What each exit code means" },
    { line: "holdfast help config", says: "Every setting, its default and the reason for it" },
    { line: "holdfast help failover", says: "Who takes over, and what becomes of the work" },
  ],
  async run({ topic }, { printer }) {
    const text = await textFor(topic);
    printer.json({ help: text });
    printer.line(text.trimEnd());
    return 0;
  },
});
