// Which records may be sent as one? Texts of the same message that follow each other, and nothing across another event.
import type { SessionRecord } from "../protocol/agents.ts";

const CHUNKS: ReadonlySet<unknown> = new Set(["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]);
const MAX_CHARACTERS = 64 * 1024;

interface Text {
  kind: unknown;
  messageId: unknown;
  text: string;
}

function textOf({ type, data }: SessionRecord): Text | undefined {
  const update = data["update"] as Record<string, unknown> | undefined;
  if (type !== "update" || !update || !CHUNKS.has(update["sessionUpdate"])) return undefined;
  const content = update["content"] as Record<string, unknown> | undefined;
  // Anything more than a bare text is somebody's meaning, and stays as it is.
  if (content?.["type"] !== "text" || Object.keys(content).length !== 2) return undefined;
  if (Object.keys(update).some((key) => key !== "sessionUpdate" && key !== "content" && key !== "messageId"))
    return undefined;
  if (typeof content["text"] !== "string" || Object.keys(data).length !== 1) return undefined;
  return { kind: update["sessionUpdate"], messageId: update["messageId"], text: content["text"] };
}

const fits = (open: Text & { characters: number }, more: Text): boolean =>
  more.kind === open.kind && more.messageId === open.messageId && open.characters + more.text.length <= MAX_CHARACTERS;

export function mergeTexts(records: readonly SessionRecord[]): SessionRecord[] {
  const merged: SessionRecord[] = [];
  let open: (Text & { record: SessionRecord; parts: string[]; characters: number }) | undefined;
  const close = (): void => {
    if (!open) return;
    const { record, parts } = open;
    const update = record.data["update"] as Record<string, unknown>;
    const content = { type: "text", text: parts.join("") };
    merged.push(parts.length === 1 ? record : { ...record, data: { ...record.data, update: { ...update, content } } });
    open = undefined;
  };
  for (const record of records) {
    const text = textOf(record);
    if (open && text && fits(open, text)) {
      open.parts.push(text.text);
      open.characters += text.text.length;
      open.record = { ...open.record, seq: record.seq, from: open.record.from ?? open.record.seq, at: record.at };
      continue;
    }
    close();
    if (text) open = { ...text, record, parts: [text.text], characters: text.text.length };
    else merged.push(record);
  }
  close();
  return merged;
}
