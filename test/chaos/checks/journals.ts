// Was every number given once, and every turn told whole? Each journal by itself, and against what the agent wrote down.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SeenEvent, Violation } from "../history.ts";
import type { Work } from "../work.ts";

export interface Journal {
  session: string;
  records: SeenEvent[];
  /** Lines that are no record: torn by a kill or a full disk. */
  torn: number;
}

export function readJournal(session: string, text: string): Journal {
  const journal: Journal = { session, records: [], torn: 0 };
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const { source: _, ...record } = JSON.parse(line);
      journal.records.push(record);
    } catch {
      journal.torn++;
    }
  }
  return journal;
}

const END = ".ndjson";

export const readJournals = (directory: string): Journal[] =>
  existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => name.endsWith(END))
        .map((name) => readJournal(name.slice(0, -END.length), readFileSync(join(directory, name), "utf8")))
    : [];

const time = ({ at }: SeenEvent): number => Date.parse(at);

/** Unique and gapless; a number that was given twice had two writers. */
export function checkNumbers({ session, records }: Journal): Violation[] {
  const found: Violation[] = [];
  const seen = new Map<number, SeenEvent>();
  let doubled = 0;
  let first: SeenEvent | undefined;
  let last = 0;
  for (const record of records) {
    if (seen.has(record.seq)) {
      doubled++;
      first ??= record;
    }
    seen.set(record.seq, record);
    if (record.seq > last + 1) {
      const text = `Journal "${session}" goes from ${last} to ${record.seq} (${record.type})`;
      found.push({ kind: "lost", text, at: time(record), session });
    }
    last = Math.max(last, record.seq);
  }
  if (first) {
    const text = `Journal "${session}": ${doubled} numbers were given twice, the first is ${first.seq} (${first.type})`;
    found.push({ kind: "double writer", text, at: time(first), session });
  }
  return found;
}

const textOf = ({ type, data }: SeenEvent): string => {
  const update = data["update"] as { sessionUpdate?: string; content?: { text?: string } } | undefined;
  return type === "update" && update?.sessionUpdate === "agent_message_chunk" ? (update.content?.text ?? "") : "";
};

export interface Turn {
  session: string;
  promptId: string;
  text: string;
  answer: string;
  stopReason: string | undefined;
  message: string;
  startedAt: number;
  endedAt: number;
}

const short = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 40)} … ${text.slice(-30)}` : text);

/** Each prompt has one beginning and one end; what was said between them is the whole answer, and nothing is said outside. */
export function checkTurns({ session, records }: Journal, works: ReadonlyMap<string, Work>) {
  const turns = new Map<string, Turn>();
  const found: Violation[] = [];
  const tell = (kind: Violation["kind"], text: string, at: number): void =>
    void found.push({ kind, text: `Session "${session}": ${text}`, at, session });
  let running: Turn | undefined;
  let last: Turn | undefined;
  for (const record of records) {
    const promptId = String(record.data["promptId"]);
    const turn = turns.get(promptId);
    const at = time(record);
    if (record.type === "prompt") {
      if (turn) tell("doubled", `prompt ${short(turn.text)} stands there twice`, at);
      const text = String(record.data["text"]);
      turns.set(promptId, {
        session,
        promptId,
        text,
        answer: "",
        stopReason: undefined,
        message: "",
        startedAt: 0,
        endedAt: 0,
      });
    } else if (record.type === "turn-started") {
      if (!turn) tell("lost", `turn ${promptId} began without its prompt`, at);
      else if (turn.startedAt > 0) tell("doubled", `the turn of ${short(turn.text)} began twice`, at);
      else turn.startedAt = at;
      if (running) tell("doubled", `a turn began inside that of ${short(running.text)}`, at);
      running = turn;
    } else if (record.type === "turn-ended") {
      if (!turn) tell("lost", `turn ${promptId} ended without its prompt`, at);
      else if (turn.stopReason !== undefined) tell("doubled", `the turn of ${short(turn.text)} ended twice`, at);
      else {
        turn.stopReason = String(record.data["stopReason"]);
        turn.message = String(record.data["message"] ?? "");
        turn.endedAt = at;
      }
      if (turn === running) {
        last = running;
        running = undefined;
      }
    } else if (textOf(record) !== "") {
      if (running) running.answer += textOf(record);
      // What crossed a cancel on its way belongs to nobody any more.
      else if (last?.stopReason === "end_turn" || !last)
        tell("doubled", `${short(textOf(record))} was said outside of any turn`, at);
    }
  }
  for (const turn of turns.values()) found.push(...judgeTurn(turn, works.get(turn.text)));
  return { turns: [...turns.values()], found };
}

function judgeTurn(turn: Turn, work: Work | undefined): Violation[] {
  const { session, text, answer, stopReason, endedAt: at } = turn;
  if (!work) return [];
  const say = (kind: Violation["kind"], what: string): Violation[] => [
    { kind, text: `Session "${session}", prompt ${short(text)}: ${what}`, at, session },
  ];
  if (stopReason === "end_turn" && !work.isWhole(answer))
    return say(
      answer.length > 0 && isRepeated(answer) ? "doubled" : "lost",
      `the whole answer is told as ${short(answer)}`,
    );
  if (stopReason !== undefined && stopReason !== "end_turn" && !work.isBegun(answer))
    return say("doubled", `it ended with "${stopReason}", and its answer is told as ${short(answer)}`);
  return [];
}

/** Some line stands there twice. */
const isRepeated = (answer: string): boolean => {
  const lines = answer.split("\n").filter(Boolean);
  return new Set(lines).size < lines.length;
};
