// Did every viewer see the same? Each number once, in order, without a gap, and with the journal's own words.
import type { SeenEvent, Violation } from "../history.ts";

export interface View {
  who: string;
  session: string;
  /** Behind which number it began; undefined where it began with its own prompt. */
  after: number | undefined;
  events: readonly SeenEvent[];
}

type Chunk = { sessionUpdate?: string; content?: { type?: string; text?: string } };

const chunkOf = ({ data }: SeenEvent): Chunk | undefined => data["update"] as Chunk | undefined;

/** What one event must be when these records were merged into it. */
export function mergedOf(records: readonly SeenEvent[]): unknown {
  const last = records.at(-1);
  if (!last || records.length === 1) return last && { type: last.type, data: last.data };
  const text = records.map((record) => chunkOf(record)?.content?.text ?? "").join("");
  return { type: last.type, text, kind: chunkOf(last)?.sessionUpdate };
}

const toldOf = (event: SeenEvent, isMerged: boolean): unknown => {
  const { type, data } = event;
  if (!isMerged) return { type, data };
  return { type, text: chunkOf(event)?.content?.text ?? "", kind: chunkOf(event)?.sessionUpdate };
};

export function checkView({ who, session, after, events }: View, journal: ReadonlyMap<number, SeenEvent>): Violation[] {
  let last = after;
  for (const event of events) {
    const from = event.from ?? event.seq;
    const at = Date.parse(event.at);
    if (last !== undefined && from !== last + 1) {
      const kind = from <= last ? "doubled" : "lost";
      return [{ kind, text: `${who} saw ${from} of "${session}" behind ${last}`, at, session }];
    }
    last = event.seq;
    const records = [];
    for (let seq = from; seq <= event.seq; seq++) {
      const record = journal.get(seq);
      if (!record) {
        const text = `${who} saw ${seq} of "${session}" (${event.type}), which the journal has not`;
        return [{ kind: "lost", text, at, session }];
      }
      records.push(record);
    }
    if (Bun.deepEquals(toldOf(event, records.length > 1), mergedOf(records))) continue;
    const text = `${who} saw ${from}–${event.seq} of "${session}" as ${JSON.stringify(event).slice(0, 200)}, the journal has ${JSON.stringify(records[0]).slice(0, 200)}`;
    return [{ kind: "differing view", text, at, session }];
  }
  return [];
}
