// Is the demo's story whole? Nothing lost, nothing doubled, and whoever died was replaced.
import type { BrowserFigures } from "./browser-act.ts";
import type { LinesOutcome } from "./lines.ts";
import type { Outcome } from "./traffic.ts";

export interface Played {
  requests: Pick<Outcome, "lost" | "doubled">;
  streamed: Pick<LinesOutcome, "lost" | "doubled">;
  /** How the turn ended whose host and keeper were killed. */
  stopReason: string;
  /** How the turn ended whose agent was killed. */
  killedReason: string;
  /** What the agent said in the conversation's third turn. */
  restored: string;
  /** Undefined: there is none here. */
  browser: Pick<BrowserFigures, "success"> | undefined;
}

export const isWhole = ({ requests, streamed, stopReason, killedReason, restored, browser }: Played): boolean =>
  [requests.lost, requests.doubled, streamed.lost, streamed.doubled].every((count) => count === 0) &&
  stopReason === "end_turn" &&
  killedReason === "lost" &&
  restored.includes("(turn 3)") &&
  browser?.success !== false;

export const exitCodeFor = (whole: boolean): number => (whole ? 0 : 1);
