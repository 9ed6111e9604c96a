// Where do sessions lie while nobody uses them? One journal each; a session is found again by its name.
import { join } from "node:path";
import { type PruneLimits, toPrune } from "../core/prune.ts";
import { titleOf } from "../core/session-fold.ts";
import type { Clock, Files } from "../platform/world.ts";
import type { SessionRecord } from "../protocol/agents.ts";
import { messageOf } from "../protocol/fault.ts";
import { SESSION_NAME } from "../protocol/vocabulary.ts";
import { createInUse, type InUse } from "./in-use.ts";
import { type FoldKeeper, foldIn, type Journal, openJournal, parseRecord } from "./journal.ts";
import { openedWhenNeeded } from "./journal-when-needed.ts";
import { createResting } from "./resting.ts";
import { diskFull } from "./scribe.ts";

export type ForgetConversation = (agent: string, acpSessionId: string) => void;

export interface Shelf {
  create(name: string, agent: string, cwd: string): Journal;
  find(name: string): Journal | undefined;
  has(name: string): boolean;
  /** The closed ones first that were closed last; all the others only when these are not enough. */
  newest(): Generator<string>;
  /** What its first lines say, without reading the rest. */
  peek(name: string): { agent: string; cwd: string; title?: string; updatedAt?: string } | undefined;
  /** MCP servers of this session alone. They may hold secrets, so they are no part of its journal. */
  servers(name: string): unknown[];
  keepServers(name: string, servers: readonly unknown[]): void;
  /** Removes what is too old, then the oldest while all together is too much. */
  prune(limits: PruneLimits, needed: ReadonlySet<string>): { removed: string[]; bytes: number };
  /** Those that the next host brings back. */
  readonly inUse: InUse;
  /** Those that had nothing to do when something was written last: they are in no hurry. */
  resting(): ReadonlySet<string>;
  /** This host leaves. */
  end(): void;
}

const END = ".ndjson";
/** The first prompt stands there, or the session was hardly used. */
const PEEK_LINES = 40;

/** `forget`: what the agent itself kept of a conversation goes with its journal. */
export function createShelf(clock: Clock, files: Files, directory: string, forget?: ForgetConversation): Shelf {
  const inUse = createInUse(files, directory, "in-use.log", "in-use.json");
  const atRest = createInUse(files, directory, "at-rest.log");
  const resting = createResting(clock);
  const file = (name: string): string => join(directory, `${name}${END}`);
  const foldFile = (name: string): string => join(directory, `${name}.fold.json`);
  const serversFile = (name: string): string => join(directory, `${name}.mcp.json`);
  const names = () =>
    files
      .list(directory)
      .filter((each) => each.endsWith(END))
      .map((each) => each.slice(0, -END.length));
  const open = (name: string, bytes: number): Journal => {
    const folds: FoldKeeper = {
      read: () => files.readPrivate(foldFile(name)),
      keep: (text) => files.replace(foldFile(name), text),
      grew(journal) {
        atRest.went(name);
        resting.grew(journal, () => {
          if (journal.fold.open.length === 0 && !journal.fold.closes) atRest.came(name);
        });
      },
      closed: resting.closed,
    };
    return openJournal(
      openedWhenNeeded(() => files.journal(file(name)), bytes),
      () => clock.iso(),
      folds,
    );
  };
  const statsOf = (name: string) => (SESSION_NAME.pattern.test(name) ? files.stats(file(name)) : undefined);
  const has = (name: string): boolean => statsOf(name) !== undefined;
  /** From the beginning on up to one of this type, without reading the rest. */
  const recordsTo = (name: string, type: string): SessionRecord[] => {
    const records: SessionRecord[] = [];
    let lines = 0;
    const journal = files.journal(file(name));
    try {
      journal.readLines(0, 0, (line) => {
        const record = parseRecord(line);
        if (record) records.push(record);
        return record?.type === type || ++lines >= PEEK_LINES;
      });
      return records;
    } finally {
      journal.close();
    }
  };
  /** The agent's own names for it. */
  const conversationsOf = (name: string): { agent: string; ids: Set<string> } => {
    const records = recordsTo(name, "session-opened");
    const fold = foldIn(files.readPrivate(foldFile(name)));
    const ids = [fold?.acpSessionId, ...records.map(({ data }) => data["acpSessionId"])];
    return {
      agent: String(records[0]?.data["agent"]),
      ids: new Set(ids.filter((id): id is string => typeof id === "string")),
    };
  };
  const forgetConversations = (name: string): void => {
    if (!forget) return;
    try {
      const { agent, ids } = conversationsOf(name);
      for (const id of ids) forget(agent, id);
    } catch {
      // One that cannot be read is removed all the same.
    }
  };
  const newestFirst = (): string[] => {
    const all = names().map((name) => ({ name, at: files.stats(file(name))?.modifiedAt ?? 0 }));
    return all.sort((left, right) => right.at - left.at).map(({ name }) => name);
  };
  return {
    end: resting.end,
    has,
    *newest() {
      const told = new Set(inUse.gone());
      yield* told;
      for (const name of newestFirst()) if (!told.has(name)) yield name;
    },
    peek(name) {
      const stats = files.stats(file(name));
      if (!stats) return undefined;
      const records = recordsTo(name, "prompt");
      const [first] = records;
      if (!first) return undefined;
      const prompt = records.find(({ type }) => type === "prompt");
      return {
        agent: String(first.data["agent"]),
        cwd: String(first.data["cwd"]),
        ...(prompt ? { title: titleOf(String(prompt.data["text"])) } : {}),
        updatedAt: clock.iso(stats.modifiedAt),
      };
    },
    servers(name) {
      const text = files.readPrivate(serversFile(name));
      const read: unknown = text === undefined ? [] : JSON.parse(text);
      return Array.isArray(read) ? read : [];
    },
    keepServers(name, servers) {
      if (servers.length === 0) return files.remove(serversFile(name));
      files.replace(serversFile(name), JSON.stringify(servers));
    },
    prune(limits, needed) {
      const found = names().flatMap((name) => {
        const stats = files.stats(file(name));
        return stats ? [{ name, ...stats }] : [];
      });
      const chosen = toPrune(found, limits, needed, clock.now());
      for (const { name } of chosen) {
        forgetConversations(name);
        for (const path of [file(name), foldFile(name), serversFile(name)]) files.remove(path);
      }
      return { removed: chosen.map(({ name }) => name), bytes: chosen.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
    create(name, agent, cwd) {
      files.directory(directory);
      const journal = open(name, statsOf(name)?.bytes ?? 0);
      try {
        journal.append("session-created", { name, agent, cwd });
        return journal;
      } catch (thrown) {
        journal.close();
        throw diskFull(messageOf(thrown));
      }
    },
    find(name) {
      const stats = statsOf(name);
      if (!stats) return undefined;
      const journal = open(name, stats.bytes);
      // Torn before its first record: it never began.
      if (journal.lastSeq > 0) return journal;
      journal.close();
      return undefined;
    },
    inUse,
    resting: () => new Set(atRest.names()),
  };
}
