// Does everything hold? All checks over what a phase left: journals, views, prompts, exits, traces.
import { join } from "node:path";
import type { History, SeenEvent, Violation } from "../history.ts";
import type { Works } from "../work.ts";
import type { Yard } from "../yard.ts";
import { checkExecs, readTokens } from "./execs.ts";
import { aroundOf, judgeExit } from "./exits.ts";
import { checkAnswers, checkHolders, type Holding } from "./hosts.ts";
import { checkNumbers, checkTurns, type Journal, readJournals, type Turn } from "./journals.ts";
import { checkPrompts, readAgentRecord } from "./prompts.ts";
import { checkTraces, readLogs } from "./traces.ts";
import { checkView, type View } from "./views.ts";

/** What it printed, as far as it is a view of a session. */
export function viewsOf(history: History): View[] {
  return history.commands.flatMap(({ kind, words, about, events, out, code, pid }): View[] => {
    const who = `"${words.slice(0, 2).join(" ")}" (pid ${pid})`;
    const { session, after } = about;
    if (session === undefined) return [];
    if (kind === "attach" || kind === "prompt") return [{ who, session, after, events }];
    if (kind !== "read" || code !== 0) return [];
    return [{ who, session, after, events: (JSON.parse(out) as { events: SeenEvent[] }).events }];
  });
}

const indexOf = ({ records }: Journal): Map<number, SeenEvent> => new Map(records.map((each) => [each.seq, each]));

export interface Checked {
  found: Violation[];
  turns: Turn[];
}

export function checkAll(yard: Yard, works: Works, holdings: readonly Holding[]): Checked {
  const { history } = yard;
  const journals = readJournals(yard.sessionsDirectory());
  const numbers = journals.map((journal) => ({ journal, found: checkNumbers(journal) }));
  const read = journals.map((journal) => checkTurns(journal, works.known));
  const turns = read.flatMap((each) => each.turns);
  const indexes = new Map(journals.map((journal) => [journal.session, indexOf(journal)]));
  const views = viewsOf(history).flatMap((view) => checkView(view, indexes.get(view.session) ?? new Map()));
  const { commands, faults } = history;
  const exits = commands.flatMap((command) => judgeExit(command, aroundOf(command, commands, faults)) ?? []);
  const prompts = checkPrompts({ record: readAgentRecord(yard.state), turns, commands, faults });
  const traces = checkTraces(commands, readLogs(yard.state));
  const execs = checkExecs(commands, readTokens(join(yard.directory, "work", "tokens")));
  const hosts = [...checkHolders(holdings, history.promotions, faults), ...checkAnswers(commands, history.promotions)];
  const found = [
    ...hosts,
    ...execs,
    ...numbers.flatMap((each) => each.found),
    ...read.flatMap((each) => each.found),
    ...views,
    ...prompts,
    ...exits,
    ...traces,
  ];
  return { found, turns };
}

/** Everything that was asked for has had its end, as far as the journals tell. */
export const openTurns = (yard: Yard, works: Works): string[] =>
  readJournals(yard.sessionsDirectory())
    .flatMap((journal) => checkTurns(journal, works.known).turns)
    .filter(({ stopReason }) => stopReason === undefined)
    .map(({ session, text }) => `${session}: ${text.trimEnd()}`);
