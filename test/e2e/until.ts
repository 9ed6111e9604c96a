// How does a test wait for what no event tells? It looks again and again, and says what it missed.

const LOOK_MS = 15;
export const PATIENCE_MS = 30_000;

type Found<Value> = Exclude<Value, undefined | false | null>;

export async function until<Value>(
  what: string | (() => string),
  look: () => Value | Promise<Value>,
  timeoutMs = PATIENCE_MS,
): Promise<Found<Value>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false && found !== null) return found as Found<Value>;
    if (performance.now() > deadline)
      throw new Error(`Waited ${timeoutMs} ms in vain for ${typeof what === "string" ? what : what()}`);
    await Bun.sleep(LOOK_MS);
  }
}
