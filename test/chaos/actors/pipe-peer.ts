// How does an editor or an MCP client talk to the binary? JSON-RPC, one object per line, over its stdin and stdout.
import type { Running, Yard } from "../yard.ts";

type Json = Record<string, unknown>;

export interface Answer {
  result?: Json;
  error?: { code: number; message: string; data?: Json };
  /** It ended before it had answered. */
  isGone?: boolean;
}

export interface PipePeer {
  running: Running;
  request(method: string, params: Json): Promise<Answer>;
  notify(method: string, params: Json): void;
  /** Closes its input, and waits for its end. */
  leave(): Promise<void>;
}

interface Handlers {
  /** What the other side asks of us. */
  asked?(method: string, params: Json): Json | undefined;
  told?(method: string, params: Json): void;
}

const STAY = { deadlineMs: Number.POSITIVE_INFINITY };
const LEAVE_MS = 20_000;
const ANSWER_MS = 90_000;

export function openPeer(yard: Yard, kind: string, words: readonly string[], handlers: Handlers): PipePeer {
  const pending = new Map<number, (answer: Answer) => void>();
  let ids = 0;
  const receive = (line: string): void => {
    const message = JSON.parse(line) as Json & { id?: number; method?: string; params?: Json };
    if (message.method !== undefined && message.id !== undefined) {
      const result = handlers.asked?.(message.method, message.params ?? {});
      const answer = result ? { result } : { error: { code: -32601, message: "Nobody answers that here" } };
      return write({ id: message.id, ...answer });
    }
    if (message.method !== undefined) return handlers.told?.(message.method, message.params ?? {});
    pending.get(Number(message.id))?.(message as Answer);
    pending.delete(Number(message.id));
  };
  const running = yard.start(kind, words, {
    ...STAY,
    heard: ({ type, data }) => {
      if (type === "line") receive(String(data["text"]));
    },
  });
  void running.ended.then(() => {
    for (const settle of pending.values()) settle({ isGone: true });
    pending.clear();
  });
  function giveUp(): void {
    running.command.isHung = true;
    running.tell("SIGKILL");
  }
  function write(message: Json): void {
    if (!running.isOver()) running.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
  return {
    running,
    request(method, params) {
      if (running.isOver()) return Promise.resolve({ isGone: true });
      const id = ++ids;
      return new Promise((resolve) => {
        const late = setTimeout(giveUp, ANSWER_MS);
        pending.set(id, (answer) => {
          clearTimeout(late);
          resolve(answer);
        });
        write({ id, method, params });
      });
    },
    notify: (method, params) => write({ method, params }),
    async leave() {
      running.closeInput();
      const late = setTimeout(giveUp, LEAVE_MS);
      await running.ended;
      clearTimeout(late);
    },
  };
}
