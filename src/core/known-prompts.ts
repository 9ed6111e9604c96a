// Was this prompt asked before? The newest ones are known by their id: whoever asks again asks soon.

/** So many of a session. */
export const KNOWN_PROMPTS = 1_000;

export interface KnownPrompts {
  /** Behind which record its events are; undefined when nobody asked. */
  after(promptId: string): number | undefined;
  add(promptId: string, after: number): void;
  readonly size: number;
}

export function createKnownPrompts(known: Iterable<readonly [promptId: string, after: number]>): KnownPrompts {
  const prompts = new Map(known);
  return {
    after: (promptId) => prompts.get(promptId),
    add(promptId, after) {
      prompts.set(promptId, after);
      const [oldest] = prompts.keys();
      if (prompts.size > KNOWN_PROMPTS && oldest !== undefined) prompts.delete(oldest);
    },
    get size() {
      return prompts.size;
    },
  };
}
