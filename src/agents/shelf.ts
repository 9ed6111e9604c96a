// Where do sessions lie while nobody uses them? One journal each; a session is found again by its name.
import { join } from "node:path";
import { type PruneLimits, toPrune } from "../core/prune.ts";
import { titleOf } from "../core/session-fold.ts";
import type { Clock, Files } from "../platform/world.ts";
import { SessionName, type SessionRecord } from "../protocol/agents.ts";
import { messageOf } from "../protocol/fault.ts";
import { createInUse, type InUse } from "./in-use.ts";
import { type FoldKeeper, type Journal, openJournal, parseRecord } from "./journal.ts";
import { diskFull } from "./scribe.ts";

export interface Shelf {
  create(name: string, agent: string, cwd: string): Journal;
  find(name: string): Journal | undefined;
  has(name: string): boolean;
  names(): string[];
  /** What its first lines say, without reading the rest. */
  peek(name: string): { agent: string; cwd: string; title?: string; updatedAt?: string } | undefined;
  /** MCP servers of this session alone. They may hold secrets, so they are no part of its journal. */
  servers(name: string): unknown[];
  keepServers(name: string, servers: readonly unknown[]): void;
  /** Removes what is too old, then the oldest while all together is too much. */
  prune(limits: PruneLimits, inUse: ReadonlySet<string>): { removed: string[]; bytes: number };
  /** Those that the next host brings back. */
  readonly inUse: InUse;
}

const END = ".ndjson";
/** The first prompt stands there, or the session was hardly used. */
const PEEK_RECORDS = 40;
const PEEK_BYTES = 64 * 1024;

export function createShelf(clock: Clock, files: Files, directory: string): Shelf {
  const file = (name: string): string => join(directory, `${name}${END}`);
  const foldFile = (name: string): string => join(directory, `${name}.fold.json`);
  const serversFile = (name: string): string => join(directory, `${name}.mcp.json`);
  const names = () =>
    files
      .list(directory)
      .filter((each) => each.endsWith(END))
      .map((each) => each.slice(0, -END.length));
  const open = (name: string): Journal => {
    const folds: FoldKeeper = {
      read: () => files.readPrivate(foldFile(name)),
      keep: (text) => files.replace(foldFile(name), text),
    };
    return openJournal(files.journal(file(name)), () => clock.iso(), folds);
  };
  return {
    has: (name) => files.stats(file(name)) !== undefined,
    names,
    peek(name) {
      const journal = files.journal(file(name));
      let first: SessionRecord | undefined;
      let title: string | undefined;
      let count = 0;
      journal.readLines(0, PEEK_BYTES, (line) => {
        const record = parseRecord(line);
        first ??= record;
        if (record?.type === "prompt") title ??= titleOf(String(record.data["text"]));
        return title !== undefined || ++count >= PEEK_RECORDS;
      });
      journal.close();
      if (!first) return undefined;
      const modifiedAt = files.stats(file(name))?.modifiedAt;
      return {
        agent: String(first.data["agent"]),
        cwd: String(first.data["cwd"]),
        ...(title === undefined ? {} : { title }),
        ...(modifiedAt === undefined ? {} : { updatedAt: clock.iso(modifiedAt) }),
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
    prune(limits, inUse) {
      const found = names().flatMap((name) => {
        const stats = files.stats(file(name));
        return stats ? [{ name, ...stats }] : [];
      });
      const chosen = toPrune(found, limits, inUse, clock.now());
      for (const { name } of chosen)
        for (const path of [file(name), foldFile(name), serversFile(name)]) files.remove(path);
      return { removed: chosen.map(({ name }) => name), bytes: chosen.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
    create(name, agent, cwd) {
      files.directory(directory);
      const journal = open(name);
      try {
        journal.append("session-created", { name, agent, cwd });
        return journal;
      } catch (thrown) {
        journal.close();
        throw diskFull(messageOf(thrown));
      }
    },
    find(name) {
      if (!SessionName.safeParse(name).success || !files.stats(file(name))) return undefined;
      const journal = open(name);
      // Torn before its first record: it never began.
      if (journal.lastSeq > 0) return journal;
      journal.close();
      return undefined;
    },
    inUse: createInUse(files, directory),
  };
}
