// How do two peers ask and answer over lines? Both sides are the same; each has an id space of its own.
import type { Clock } from "../platform/world.ts";
import { RPC, type RpcError, type RpcId } from "../protocol/json-rpc.ts";
import { createLateAnswers } from "./late-answers.ts";
import { isError, parseMessage, type RpcMessage } from "./rpc-message.ts";

/** What the other side answered instead of a result. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: RpcError) {
    super(message);
    this.name = "RpcFailure";
    this.code = code;
    this.data = data;
  }
}

export interface PeerEvents {
  /** Undefined: nobody here knows this method. The answer may come much later. */
  request(method: string, params: unknown, id: RpcId, at?: number): Promise<unknown> | undefined;
  notification(method: string, params: unknown): void;
  /** Not JSON, or no JSON-RPC. */
  skipped?(line: string): void;
}

/** A request of ours without an answer; its key says what it was for. */
export interface OpenRequest {
  id: number;
  key: string;
  method: string;
}

/** A request of the other side that we did not answer yet. */
export interface OpenQuestion {
  id: RpcId;
  method: string;
  params: unknown;
  /** Where it stood in what the other side said: an id that was answered may come again, and is another question then. */
  at?: number;
}

/** What an earlier peer of the same conversation left. */
export interface PeerStart {
  firstId?: number;
  requests?: readonly OpenRequest[];
  /** Keys of answers that were sent. */
  answered?: ReadonlySet<string>;
  /** Where what was received last stands in all that was said. */
  at?(): number | undefined;
}

const ANSWER = "answer ";
/** Without a place it is as the first release wrote it. */
export const answerKey = (id: RpcId, at?: number): string =>
  `${ANSWER}${JSON.stringify(id)}${at === undefined ? "" : `@${at}`}`;
export const isAnswerKey = (key: string): boolean => key.startsWith(ANSWER);

export interface RequestOptions {
  timeoutMs?: number;
  /** What an earlier peer asked under this key is not asked again: its answer is ours. */
  key?: string;
  /** Never sent a second time under this key, not even after it failed. */
  once?: boolean;
  /** Aborted, the other side is told that nobody waits for its answer any more. */
  signal?: AbortSignal;
}

export interface RpcPeer {
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** The answer to what an earlier peer asked under this key; undefined when nobody did. */
  claim(key: string): Promise<unknown> | undefined;
  /** Asks our side once more what the other side asked an earlier peer. */
  askedBefore(question: OpenQuestion): void;
  readonly open: { requests: OpenRequest[]; questions: OpenQuestion[] };
  /** These may never have arrived: nobody waits for them any more. */
  giveUp(keys: readonly string[], reason: Error): void;
  /** Resolves when what was given up was answered all the same; undefined when nothing is open of it. */
  readonly late: Promise<void> | undefined;
  notify(method: string, params: unknown): void;
  receive(line: string): void;
  /** Everything pending rejects with the reason, now. */
  end(reason: Error): void;
  readonly pending: number;
}

interface Waiting extends OpenRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
  cancel(): void;
}

export function createRpcPeer(
  clock: Clock,
  send: (line: string, key?: string) => void,
  events: PeerEvents,
  { firstId = 0, requests = [], answered = new Set(), at: place = () => undefined }: PeerStart = {},
): RpcPeer {
  const waiting = new Map<string, Waiting>();
  const questions = new Map<string, OpenQuestion>();
  const lateAnswers = createLateAnswers();
  const claimable = new Map<string, { id: number; answer: Promise<unknown> }>();
  let nextId = firstId;
  let ended: Error | undefined;

  const write = (message: object, key?: string): void => {
    if (!ended) send(JSON.stringify({ jsonrpc: "2.0", ...message }), key);
  };

  const answer = async (question: OpenQuestion): Promise<void> => {
    const { id, method, params, at } = question;
    const key = JSON.stringify(id);
    if (answered.has(answerKey(id, at)) || answered.has(answerKey(id)) || questions.has(key)) return;
    questions.set(key, question);
    const respond = (message: object): void => {
      questions.delete(key);
      write({ id, ...message }, answerKey(id, at));
    };
    const work = events.request(method, params, id, at);
    if (!work) return respond({ error: { code: RPC.methodNotFound, message: `Method not found: ${method}` } });
    try {
      respond({ result: (await work) ?? null });
    } catch (thrown) {
      const { code, data } = thrown instanceof RpcFailure ? thrown : { code: RPC.internal, data: undefined };
      respond({ error: { code, message: thrown instanceof Error ? thrown.message : String(thrown), data } });
    }
  };

  const wait = (request: OpenRequest, cancel: () => void): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(String(request.id), { ...request, resolve, reject, cancel });
    });

  for (const request of requests) {
    const answer = wait(request, () => {});
    answer.catch(() => undefined);
    claimable.set(request.key, { id: request.id, answer });
  }

  const take = (key: string): { id: number; answer: Promise<unknown> } | undefined => {
    const found = [...claimable.keys()].findLast((each) => each === key || each.startsWith(`${key} #`)) ?? key;
    const asked = claimable.get(found);
    claimable.delete(found);
    return asked;
  };

  const settle = (message: RpcMessage, line: string): void => {
    // Ids of ours are numbers; one that comes back as another type, or twice, is nobody's.
    const key = JSON.stringify(message.id);
    const entry = waiting.get(key);
    if (!entry) return lateAnswers.came(key) ? undefined : events.skipped?.(line);
    waiting.delete(key);
    entry.cancel();
    if (isError(message.error)) entry.reject(new RpcFailure(message.error));
    else entry.resolve(message.result);
  };

  return {
    get pending() {
      return waiting.size;
    },
    claim: (key) => take(key)?.answer,
    askedBefore: (question) => void answer(question),
    get open() {
      return {
        requests: [...waiting.values()].map(({ id, key, method }) => ({ id, key, method })),
        questions: [...questions.values()],
      };
    },
    giveUp(keys, reason) {
      for (const [id, entry] of waiting) {
        if (!keys.includes(entry.key)) continue;
        waiting.delete(id);
        lateAnswers.expect(id);
        entry.cancel();
        entry.reject(reason);
      }
    },
    get late() {
      return lateAnswers.all;
    },
    request(method, params, { timeoutMs, key, once = false, signal } = {}) {
      if (ended) return Promise.reject(ended);
      const asked = key === undefined ? undefined : take(key);
      const id = asked?.id ?? nextId++;
      const takeBack = (code: number, message: string): void => {
        const entry = waiting.get(String(id));
        if (!entry) return;
        waiting.delete(String(id));
        entry.cancel();
        write({ method: "$/cancel_request", params: { requestId: id } });
        entry.reject(new RpcFailure({ code, message }));
      };
      const late = () => takeBack(RPC.internal, `No answer to "${method}" within ${timeoutMs} ms`);
      signal?.addEventListener("abort", () => takeBack(RPC.cancelled, `"${method}" was taken back`), { once: true });
      const cancel = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, late);
      if (asked) {
        // Nobody waits for ever because another host asked.
        const entry = waiting.get(String(id));
        if (entry) entry.cancel = cancel;
        else cancel();
        return asked.answer;
      }
      const own = once && key !== undefined ? key : `${key ?? method} #${id}`;
      const answer = wait({ id, key: own, method }, cancel);
      write({ id, method, params }, own);
      return answer;
    },
    notify: (method, params) => write({ method, params }),
    receive(line) {
      const message = parseMessage(line);
      if (!message) return line.trim() === "" ? undefined : events.skipped?.(line);
      const { method, params, id } = message;
      if (typeof method !== "string") {
        if (id === undefined || !("result" in message || "error" in message)) return events.skipped?.(line);
        return settle(message, line);
      }
      if (id === undefined) return events.notification(method, params);
      const at = place();
      void answer({ id, method, params, ...(at === undefined ? {} : { at }) });
    },
    end(reason) {
      if (ended) return;
      ended = reason;
      for (const entry of waiting.values()) {
        entry.cancel();
        entry.reject(reason);
      }
      waiting.clear();
      lateAnswers.end();
    },
  };
}
