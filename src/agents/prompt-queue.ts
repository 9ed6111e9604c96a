// Which prompts wait for their turn? In the order in which they came; each may be taken back.
import type { Prompt } from "./session-needs.ts";

export class PromptQueue {
  readonly #waiting: Prompt[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  get ids(): string[] {
    return this.#waiting.map(({ promptId }) => promptId);
  }

  push(prompt: Prompt): void {
    this.#waiting.push(prompt);
  }

  shift(): Prompt | undefined {
    return this.#waiting.shift();
  }

  /** Whether it was there. */
  remove(promptId: string): boolean {
    const index = this.ids.indexOf(promptId);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }
}
