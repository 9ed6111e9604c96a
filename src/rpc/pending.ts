// What was asked and not yet answered? Each request ends exactly once, and all of them end when the peer does.
import type { Cancel, Clock } from "../platform/world.ts";

interface Entry<Answer> {
  resolve(answer: Answer): void;
  reject(error: Error): void;
  expired(): Error;
  cancel: Cancel;
}

export interface Pending<Answer> {
  readonly size: number;
  ask(id: string, timeoutMs: number, expired: () => Error): Promise<Answer>;
  answer(id: string, answer: Answer): boolean;
  reject(id: string, error: Error): boolean;
  /** Each with its own error: the one it would have expired with. */
  rejectAll(): void;
}

export function createPending<Answer>(clock: Clock): Pending<Answer> {
  const entries = new Map<string, Entry<Answer>>();
  const take = (id: string): Entry<Answer> | undefined => {
    const entry = entries.get(id);
    entries.delete(id);
    entry?.cancel();
    return entry;
  };
  const reject = (id: string, error: Error): boolean => {
    const entry = take(id);
    entry?.reject(error);
    return entry !== undefined;
  };
  return {
    get size() {
      return entries.size;
    },
    ask: (id, timeoutMs, expired) =>
      new Promise((resolve, fail) => {
        const cancel = clock.after(timeoutMs, () => reject(id, expired()));
        entries.set(id, { resolve, reject: fail, expired, cancel });
      }),
    answer(id, answer) {
      const entry = take(id);
      entry?.resolve(answer);
      return entry !== undefined;
    },
    reject,
    rejectAll() {
      for (const [id, { expired }] of [...entries]) reject(id, expired());
    },
  };
}
