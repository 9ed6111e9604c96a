// How do events become an async iterator? What was pushed before the end is still delivered.

export interface Queue<Item> {
  readonly isEmpty: boolean;
  push(item: Item): void;
  fail(error: Error): void;
  items(): AsyncGenerator<Item>;
}

export function createQueue<Item>(): Queue<Item> {
  const waiting: Item[] = [];
  let error: Error | undefined;
  let wake = (): void => {};
  return {
    get isEmpty() {
      return waiting.length === 0;
    },
    push(item) {
      waiting.push(item);
      wake();
    },
    fail(reason) {
      error ??= reason;
      wake();
    },
    async *items() {
      for (;;) {
        const item = waiting.shift();
        if (item !== undefined) yield item;
        else if (error) throw error;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
