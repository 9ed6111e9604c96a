// How do two peers ask and answer over lines? Both sides are the same; each has an id space of its own.
import type { Clock } from "../platform/world.ts";
import { RPC, type RpcError, type RpcId } from "../protocol/json-rpc.ts";
import { DEEPEST_INSIDE, isTooDeep } from "./frame.ts";

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

export interface RpcMessage {
  id?: RpcId;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: RpcError;
}

export interface PeerEvents {
  /** Undefined: nobody here knows this method. The answer may come much later. */
  request(method: string, params: unknown, id: RpcId): Promise<unknown> | undefined;
  notification(method: string, params: unknown): void;
  /** Not JSON, or no JSON-RPC. */
  skipped?(line: string): void;
}

export interface RpcPeer {
  request(method: string, params: unknown, options?: { timeoutMs?: number }): Promise<unknown>;
  notify(method: string, params: unknown): void;
  receive(line: string): void;
  /** Everything pending rejects with the reason, now. */
  end(reason: Error): void;
  readonly pending: number;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  cancel(): void;
}

const parse = (line: string): RpcMessage | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    // Deeper than any socket of ours takes it, nobody could be told.
    return typeof value === "object" && value !== null && !Array.isArray(value) && !isTooDeep(line, DEEPEST_INSIDE)
      ? value
      : undefined;
  } catch {
    return undefined;
  }
};

const isError = (error: unknown): error is RpcError =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "number";

export function createRpcPeer(clock: Clock, send: (line: string) => void, events: PeerEvents, firstId = 0): RpcPeer {
  const waiting = new Map<string, Waiting>();
  let nextId = firstId;
  let ended: Error | undefined;

  const write = (message: object): void => {
    if (!ended) send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  };

  const answer = async (id: RpcId, work: Promise<unknown> | undefined, method: string): Promise<void> => {
    if (!work) return write({ id, error: { code: RPC.methodNotFound, message: `Method not found: ${method}` } });
    try {
      write({ id, result: (await work) ?? null });
    } catch (thrown) {
      const { code, data } = thrown instanceof RpcFailure ? thrown : { code: RPC.internal, data: undefined };
      write({ id, error: { code, message: thrown instanceof Error ? thrown.message : String(thrown), data } });
    }
  };

  const settle = (message: RpcMessage, line: string): void => {
    // Ids of ours are numbers; one that comes back as another type, or twice, is nobody's.
    const key = JSON.stringify(message.id);
    const entry = waiting.get(key);
    if (!entry) return events.skipped?.(line);
    waiting.delete(key);
    entry.cancel();
    if (isError(message.error)) entry.reject(new RpcFailure(message.error));
    else entry.resolve(message.result);
  };

  return {
    get pending() {
      return waiting.size;
    },
    request(method, params, { timeoutMs } = {}) {
      if (ended) return Promise.reject(ended);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        const late = () => {
          waiting.delete(String(id));
          write({ method: "$/cancel_request", params: { requestId: id } });
          reject(new RpcFailure({ code: RPC.internal, message: `No answer to "${method}" within ${timeoutMs} ms` }));
        };
        const cancel = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, late);
        waiting.set(String(id), { resolve, reject, cancel });
        write({ id, method, params });
      });
    },
    notify: (method, params) => write({ method, params }),
    receive(line) {
      const message = parse(line);
      if (!message) return line.trim() === "" ? undefined : events.skipped?.(line);
      const { method, params, id } = message;
      if (typeof method !== "string") {
        if (id === undefined || !("result" in message || "error" in message)) return events.skipped?.(line);
        return settle(message, line);
      }
      if (id === undefined) return events.notification(method, params);
      void answer(id, events.request(method, params, id), method);
    },
    end(reason) {
      if (ended) return;
      ended = reason;
      for (const entry of waiting.values()) {
        entry.cancel();
        entry.reject(reason);
      }
      waiting.clear();
    },
  };
}
