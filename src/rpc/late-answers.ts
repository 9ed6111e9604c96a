// What if an answer comes that nobody waits for any more? Whoever asks next waits for it first, for a while.

export interface LateAnswers {
  /** Nobody waits for this one any more; it may come all the same. */
  expect(id: string): void;
  /** Whether it was one of them. */
  came(id: string): boolean;
  /** Resolves when none can come any more; undefined when none is awaited. */
  readonly all: Promise<void> | undefined;
  /** Nobody can answer any more. */
  end(): void;
}

export function createLateAnswers(): LateAnswers {
  const awaited = new Set<string>();
  let waiting: PromiseWithResolvers<void> | undefined;
  const settle = (): void => {
    waiting?.resolve();
    waiting = undefined;
  };
  return {
    expect(id) {
      awaited.add(id);
      waiting ??= Promise.withResolvers<void>();
    },
    came(id) {
      const isLate = awaited.delete(id);
      if (awaited.size === 0) settle();
      return isLate;
    },
    get all() {
      return waiting?.promise;
    },
    end() {
      awaited.clear();
      settle();
    },
  };
}
