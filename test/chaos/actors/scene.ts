// What does every actor get? The yard, dice of its own, and when it is over.
import type { Dice } from "../../support/dice.ts";
import type { Works } from "../work.ts";
import type { Yard } from "../yard.ts";

export interface Scene {
  yard: Yard;
  works: Works;
  /** Its own, so that nobody's luck depends on who was faster. */
  dice: Dice;
  isOver(): boolean;
  /** Ends early when it is over. */
  pause(ms: number): Promise<void>;
  /** Those that somebody prompts now. */
  sessions: string[];
  /** Called when everybody else has come to an end: for what they all need. */
  onOver(work: () => void): void;
}

export type Actor = (scene: Scene) => Promise<void>;
