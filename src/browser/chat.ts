// How is a model asked once? Streamed; 429 and 5xx are tried again with patience, 401 and 403 are not.
import type { PostHttp } from "../platform/browser-world.ts";
import type { Clock } from "../platform/world.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import { addChunk, type ChatAnswer, eventData } from "./sse.ts";

export interface ChatOptions {
  clock: Clock;
  random(): number;
  post: PostHttp;
  baseUrl: string;
  key: string | undefined;
  model: string;
}

export type Message =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string; tool_calls?: unknown[] }
  | { role: "tool"; content: string; tool_call_id: string };

export interface Tool {
  name: string;
  description: string;
  parameters: unknown;
}

export type Chat = (messages: readonly Message[], tools: readonly Tool[], signal: AbortSignal) => Promise<ChatAnswer>;

const TRIES = 5;
const FIRST_MS = 500;
const MOST_MS = 20_000;
const ANSWER_MS = 120_000;

const waitMs = (attempt: number, retryAfter: string | null, random: () => number): number => {
  const asked = Number(retryAfter) * 1_000;
  if (retryAfter !== null && Number.isFinite(asked)) return Math.min(asked, MOST_MS);
  return Math.min(FIRST_MS * 2 ** attempt, MOST_MS) * (0.5 + random() / 2);
};

async function readAll(texts: AsyncIterable<string>): Promise<string> {
  let all = "";
  for await (const text of texts) if (all.length < 2_000) all += text;
  return all.slice(0, 2_000);
}

async function readAnswer(texts: AsyncIterable<string>): Promise<ChatAnswer> {
  let answer: ChatAnswer = { text: "", calls: [], finish: undefined };
  for await (const data of eventData(texts)) {
    if (data === "[DONE]") break;
    answer = addChunk(answer, data);
  }
  return answer;
}

export function createChat({ clock, random, post, baseUrl, key, model }: ChatOptions): Chat {
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new Fault("USAGE", `Flag --base-url got "${baseUrl}"; give an address such as http://127.0.0.1:8080/v1`);
  const url = `${baseUrl.replace(/\/+$/, "")}/chat/completions`;
  const headers = { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
  return async (messages, tools, signal) => {
    const body = JSON.stringify({
      model,
      messages,
      stream: true,
      tools: tools.map((tool) => ({ type: "function", function: tool })),
      tool_choice: "required",
    });
    let last = "";
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const silent = new AbortController();
      const cancel = clock.after(ANSWER_MS, () => silent.abort(new Error(`No answer within ${ANSWER_MS} ms`)));
      const limit = AbortSignal.any([signal, silent.signal]);
      let retryAfter: string | null = null;
      try {
        const posted = await post({ url, headers, body, signal: limit });
        if (posted.kind === "answer" && posted.status === 200) return await readAnswer(posted.texts());
        last = posted.kind === "answer" ? `status ${posted.status}: ${await readAll(posted.texts())}` : posted.message;
        if (posted.kind === "answer") {
          retryAfter = posted.header("retry-after");
          mustBeWorthAgain(posted.status, last, model);
        }
      } catch (thrown) {
        signal.throwIfAborted();
        if (thrown instanceof Fault) throw thrown;
        // Broken off in mid-answer, or silent for too long.
        last = messageOf(thrown);
      } finally {
        cancel();
      }
      if (attempt < TRIES - 1) await clock.sleep(waitMs(attempt, retryAfter, random), signal);
      signal.throwIfAborted();
    }
    throw new Fault("AGENT_FAILED", `The model "${model}" did not answer after ${TRIES} tries, the last: ${last}`);
  };
}

function mustBeWorthAgain(status: number, said: string, model: string): void {
  if (status === 401 || status === 403) {
    throw new Fault(
      "NOT_PERMITTED",
      `The model "${model}" may not be used (${said}); set HOLDFAST_API_KEY or OPENAI_API_KEY`,
      { status },
    );
  }
  if (status !== 408 && status !== 429 && status < 500) {
    throw new Fault("AGENT_FAILED", `The model "${model}" refuses the request (${said})`, { status });
  }
}
