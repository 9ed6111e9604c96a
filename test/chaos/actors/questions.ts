// Who ends a question that nobody answers? Whoever asked for it: again and again, since each try may be lost.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkTurns, readJournal } from "../checks/journals.ts";
import type { Yard } from "../yard.ts";

const TRIES = 40;

/** Texts of the prompts that have no end yet. */
export function openPrompts(yard: Yard, session: string): string[] {
  try {
    const journal = readJournal(session, readFileSync(join(yard.sessionsDirectory(), `${session}.ndjson`), "utf8"));
    const { turns } = checkTurns(journal, new Map());
    return turns.filter(({ stopReason }) => stopReason === undefined).map(({ text }) => text);
  } catch {
    // It never began.
    return [];
  }
}

export async function endQuestions(yard: Yard, session: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (!openPrompts(yard, session).some((text) => text.startsWith("ask"))) return;
    await yard.run("cancel", ["cancel", session], { about: { session } });
    await Bun.sleep(100);
  }
}
