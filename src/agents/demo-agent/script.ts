// What does a prompt ask of the demo agent? A word and its numbers; anything else is echoed.
import { browsingAnswer } from "./browsing.ts";

export type Script =
  | { kind: "stream"; count: number; everyMs: number }
  | { kind: "flood"; count: number }
  | { kind: "ask" }
  | { kind: "tool" }
  | { kind: "shell"; command: string }
  | { kind: "hang" }
  | { kind: "die"; code: number }
  | { kind: "garbage" }
  | { kind: "say"; text: string }
  | { kind: "echo"; text: string };

const MAX_COUNT = 10_000_000;

/** With the earlier prompts of the conversation, where they matter. */
export function readScript(text: string, earlier: readonly string[] = []): Script {
  const trimmed = text.trim();
  const browsing = browsingAnswer([...earlier, text]);
  if (browsing !== undefined) return { kind: "say", text: browsing };
  const stream = /^stream (\d+) (\d+)$/.exec(trimmed);
  if (stream) return { kind: "stream", count: Math.min(Number(stream[1]), MAX_COUNT), everyMs: Number(stream[2]) };
  const flood = /^flood (\d+)$/.exec(trimmed);
  if (flood) return { kind: "flood", count: Math.min(Number(flood[1]), MAX_COUNT) };
  const shell = /^shell ([\s\S]+)$/.exec(trimmed);
  if (shell) return { kind: "shell", command: shell[1] as string };
  const die = /^die (\d{1,3})$/.exec(trimmed);
  if (die) return { kind: "die", code: Number(die[1]) };
  if (trimmed === "ask" || trimmed === "tool" || trimmed === "hang" || trimmed === "garbage") return { kind: trimmed };
  return { kind: "echo", text };
}
