// Where do sessions lie while nobody uses them? One journal each; a session is found again by its name.
import { join } from "node:path";
import { type PruneLimits, toPrune } from "../core/prune.ts";
import type { Clock, Files } from "../platform/world.ts";
import { SessionName, type SessionRecord } from "../protocol/agents.ts";
import { messageOf } from "../protocol/fault.ts";
import { type Journal, openJournal, parseRecord } from "./journal.ts";
import { diskFull } from "./scribe.ts";
import { createSessionSettings, type SessionSettings } from "./session-settings.ts";

export interface Shelved {
  journal: Journal;
  agent: string;
  cwd: string;
  acpSessionId: string | undefined;
  /** Prompts without an end: whoever worked on them is gone. */
  unfinished: string[];
  /** By id, and behind which record each begins. */
  prompts: Map<string, number>;
  settings: SessionSettings;
}

export interface Shelf {
  create(name: string, agent: string, cwd: string): Journal;
  find(name: string): Shelved | undefined;
  names(): string[];
  /** What its first line says, without reading the rest. */
  peek(name: string): { agent: string; cwd: string } | undefined;
  /** Removes what is too old, then the oldest while all together is too much. */
  prune(limits: PruneLimits, inUse: ReadonlySet<string>): { removed: string[]; bytes: number };
}

const END = ".ndjson";

export function createShelf(clock: Clock, files: Files, directory: string): Shelf {
  const file = (name: string): string => join(directory, `${name}${END}`);
  const names = () =>
    files
      .list(directory)
      .filter((each) => each.endsWith(END))
      .map((each) => each.slice(0, -END.length));
  return {
    names,
    peek(name) {
      const journal = files.journal(file(name));
      let first: SessionRecord | undefined;
      journal.readLines(0, 1, (line) => {
        first = parseRecord(line);
        return true;
      });
      journal.close();
      return first && { agent: String(first.data["agent"]), cwd: String(first.data["cwd"]) };
    },
    prune(limits, inUse) {
      const found = names().flatMap((name) => {
        const stats = files.stats(file(name));
        return stats ? [{ name, ...stats }] : [];
      });
      const chosen = toPrune(found, limits, inUse, clock.now());
      for (const { name } of chosen) files.remove(file(name));
      return { removed: chosen.map(({ name }) => name), bytes: chosen.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
    create(name, agent, cwd) {
      files.directory(directory);
      const journal = openJournal(files.journal(file(name)), () => clock.iso());
      try {
        journal.append("session-created", { name, agent, cwd });
        return journal;
      } catch (thrown) {
        journal.close();
        throw diskFull(messageOf(thrown));
      }
    },
    find(name) {
      if (!SessionName.safeParse(name).success || !names().includes(name)) return undefined;
      const open = new Set<string>();
      const prompts = new Map<string, number>();
      const settings = createSessionSettings();
      let created: SessionRecord["data"] = {};
      let acpSessionId: string | undefined;
      const journal = openJournal(
        files.journal(file(name)),
        () => clock.iso(),
        ({ seq, type, data }) => {
          const promptId = String(data["promptId"]);
          if (type === "session-created") created = data;
          if (type === "session-opened") acpSessionId = String(data["acpSessionId"]);
          if (type === "prompt") {
            open.add(promptId);
            prompts.set(promptId, seq - 1);
          }
          if (type === "update") settings.notice(data["update"] as Record<string, unknown>);
          if (type === "turn-ended" || type === "withdrawn") open.delete(promptId);
        },
      );
      // Torn before its first record: it never began.
      if (journal.lastSeq === 0) return void journal.close();
      return {
        journal,
        settings,
        agent: String(created["agent"]),
        cwd: String(created["cwd"]),
        acpSessionId,
        unfinished: [...open],
        prompts,
      };
    },
  };
}
