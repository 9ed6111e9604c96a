// What does a streamed chat answer say? Its text and its tool call, put together from pieces.

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

export interface ChatAnswer {
  text: string;
  calls: ToolCall[];
  finish: string | undefined;
}

/** Whole `data:` lines out of whatever pieces come. */
export async function* eventData(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + piece).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
  if (rest.startsWith("data:")) yield rest.slice(5).trim();
}

interface Delta {
  content?: unknown;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

interface Chunk {
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  error?: { message?: string };
}

export function addChunk(answer: ChatAnswer, data: string): ChatAnswer {
  const { choices, error } = JSON.parse(data) as Chunk;
  if (error) throw new Error(error.message ?? "The model ended with an error");
  const [choice] = choices ?? [];
  const { content, tool_calls: pieces = [] } = choice?.delta ?? {};
  const calls = [...answer.calls];
  for (const { index = 0, id, function: part } of pieces) {
    const before = calls[index] ?? { id: "", name: "", arguments: "" };
    calls[index] = {
      id: before.id || (id ?? ""),
      name: before.name + (part?.name ?? ""),
      arguments: before.arguments + (part?.arguments ?? ""),
    };
  }
  return {
    text: answer.text + (typeof content === "string" ? content : ""),
    calls,
    finish: choice?.finish_reason ?? answer.finish,
  };
}
