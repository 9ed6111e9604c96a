// Did every prompt reach its agent at most once, and exactly once behind exit code 0? The agent's own files tell.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, FaultDone, Violation } from "../history.ts";
import type { Turn } from "./journals.ts";

/** How often the agent wrote down each prompt. */
export type AgentRecord = ReadonlyMap<string, number>;

export function countPrompts(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const line of text.split("\n")) {
      try {
        const { user } = JSON.parse(line);
        if (typeof user === "string") counts.set(user, (counts.get(user) ?? 0) + 1);
      } catch {
        // Torn by a kill.
      }
    }
  }
  return counts;
}

export function readAgentRecord(state: string): AgentRecord {
  const directory = join(state, "demo-agent");
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return countPrompts(names.map((name) => readFileSync(join(directory, name), "utf8")));
}

export interface Told {
  record: AgentRecord;
  turns: readonly Turn[];
  commands: readonly Command[];
  faults: readonly FaultDone[];
}

const quoted = (text: string): string => `prompt ${JSON.stringify(text.trimEnd())}`;

const isExcused = (faults: readonly FaultDone[], pattern: RegExp, from: number, to: number): boolean =>
  faults.some(({ what, at, until }) => pattern.test(what) && at <= to && until >= from);

/** An agent that was killed is started again after 1, 2, 4, 8, 16 s. */
const AGENT_MS = 20_000;

export function checkPrompts({ record, turns, commands, faults }: Told): Violation[] {
  const found: Violation[] = [];
  const byText = new Map<string, Turn[]>();
  for (const turn of turns) byText.set(turn.text, [...(byText.get(turn.text) ?? []), turn]);
  for (const [text, count] of record) {
    const at = byText.get(text)?.[0]?.startedAt ?? Date.now();
    if (count > 1) found.push({ kind: "doubled", text: `The agent got ${quoted(text)} ${count} times`, at });
  }
  for (const [text, all] of byText) {
    if (all.length > 1 && commands.some(({ about }) => about.text === text)) {
      const names = all.map(({ session }) => session).join(", ");
      found.push({ kind: "doubled", text: `${quoted(text)} stands in ${names}`, at: all[1]?.startedAt ?? 0 });
    }
  }
  for (const { kind, code, about, at, endedAt = at } of commands) {
    const { text, session, saw } = about;
    if (text === undefined || code !== 0) continue;
    const [turn] = byText.get(text) ?? [];
    const tell = (what: string): void =>
      void found.push({
        kind: "lost",
        text: `${quoted(text)}, exit 0: ${what}`,
        at: endedAt,
        ...(session ? { session } : {}),
      });
    if (!turn) tell("it stands in no journal");
    else if (kind === "prompt" && turn.stopReason !== "end_turn") tell(`its turn ended with "${turn.stopReason}"`);
    else if (kind === "prompt" && !record.has(text) && !isExcused(faults, /^fill disk/, at, endedAt))
      tell("its agent never had it");
    if (saw !== undefined) tell(`its editor saw ${JSON.stringify(saw.slice(0, 200))}`);
  }
  for (const { words, code, about, out, at, endedAt = at } of commands) {
    if (code !== 0 || about.prints === undefined || out === about.prints) continue;
    const text = `"${words.join(" ")}" printed ${JSON.stringify(out.slice(0, 200))}`;
    found.push({ kind: "lost", text, at: endedAt });
  }
  for (const turn of turns) {
    const { session, text, stopReason, message, startedAt, endedAt } = turn;
    const tell = (what: string): void =>
      void found.push({
        kind: "lost",
        text: `Session "${session}", ${quoted(text)}: ${what}`,
        at: endedAt || startedAt,
        session,
      });
    if (stopReason === undefined) tell("its turn never ended");
    // A prompt that waited is refused after ten minutes by the wall; the record has the turned clock's own time.
    else if (message?.includes("the agent never got it") && faults.some(({ what }) => what === "turn clock")) continue;
    else if (stopReason === "lost" || stopReason === "error") {
      if (!isExcused(faults, /^(kill agent|fill disk|cripple|turn clock)/, (startedAt || endedAt) - AGENT_MS, endedAt))
        tell(`it is told as "${stopReason}" (${message}), though nobody touched the agent`);
    }
  }
  return found;
}
