// Who watches a session, and how far has each got? A slow one has a cursor; it never slows the agent, and misses nothing.
import { mergeTexts } from "../core/merge-texts.ts";
import type { SessionRecord } from "../protocol/agents.ts";
import { messageOf } from "../protocol/fault.ts";
import type { Journal } from "./journal.ts";

export interface Viewers {
  readonly size: number;
  attach(clientId: string, after: number, send: Viewer["send"]): void;
  /** To all of them, now; it is nobody's record. */
  notice(text: string): void;
  /** What this client has got: more may be sent. */
  acknowledged(clientId: string, seq: number): void;
  detach(clientId: string): boolean;
  /** For somebody who does not stay. */
  read(after: number, most: number, maxBytes: number): SessionRecord[];
  /** Something new stands in the journal. */
  wake(): void;
}

interface Viewer {
  cursor: number;
  acknowledged: number;
  /** That nothing can be read. */
  isTold: boolean;
  send(events: SessionRecord[], notice?: string): void;
}

/** Sent and not yet acknowledged, at most: the sockets hide megabytes of lag, only acknowledgements show it. */
const WINDOW_RECORDS = 4_096;
const WINDOW_BYTES = 4 * 1024 * 1024;
const READ_BYTES = 256 * 1024;

export function createViewers(journal: Journal): Viewers {
  const viewers = new Map<string, Viewer>();
  let awake = false;

  const hasRoom = ({ cursor, acknowledged }: Viewer): boolean =>
    cursor - acknowledged < WINDOW_RECORDS &&
    journal.bytesBefore(cursor) - journal.bytesBefore(acknowledged) < WINDOW_BYTES;

  const feed = (viewer: Viewer): void => {
    while (viewer.cursor < journal.lastSeq && hasRoom(viewer)) {
      const records = journal.read(viewer.cursor, READ_BYTES).slice(0, WINDOW_RECORDS);
      const last = records.at(-1);
      if (!last) return;
      viewer.cursor = last.seq;
      viewer.send(mergeTexts(records));
    }
  };

  /** One that cannot be fed is told once, and tried again with the next record; the others, and the host, go on. */
  const feedOrTell = (viewer: Viewer): void => {
    try {
      feed(viewer);
      viewer.isTold = false;
    } catch (thrown) {
      if (viewer.isTold) return;
      viewer.isTold = true;
      viewer.send([], `The session's journal cannot be read: ${messageOf(thrown)}; it is tried again`);
    }
  };

  const feedAll = (): void => {
    awake = false;
    for (const viewer of viewers.values()) feedOrTell(viewer);
  };

  return {
    get size() {
      return viewers.size;
    },
    attach(clientId, after, send) {
      const cursor = Math.min(after, journal.lastSeq);
      const viewer: Viewer = { cursor, acknowledged: cursor, isTold: false, send };
      viewers.set(clientId, viewer);
      feedOrTell(viewer);
    },
    acknowledged(clientId, seq) {
      const viewer = viewers.get(clientId);
      if (!viewer) return;
      viewer.acknowledged = Math.max(viewer.acknowledged, Math.min(seq, viewer.cursor));
      feedOrTell(viewer);
    },
    notice(text) {
      for (const viewer of viewers.values()) viewer.send([], text);
    },
    read(after, most, maxBytes) {
      const found: SessionRecord[] = [];
      let bytes = 0;
      const isFull = (): boolean => found.length >= most || bytes >= maxBytes;
      for (let cursor = after; cursor < journal.lastSeq && !isFull(); ) {
        const records = journal.read(cursor, maxBytes);
        if (records.length === 0) break;
        for (const record of records) {
          if (isFull()) break;
          found.push(record);
          cursor = record.seq;
          bytes += JSON.stringify(record).length;
        }
      }
      return mergeTexts(found);
    },
    detach: (clientId) => viewers.delete(clientId),
    wake() {
      if (awake) return;
      awake = true;
      // Once for everything that one piece of output held, so that texts can be merged.
      void Promise.resolve().then(feedAll);
    },
  };
}
