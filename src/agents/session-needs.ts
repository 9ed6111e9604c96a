// What is a session made of, and what does it need of others?
import type { IdleState } from "../core/idle-guards.ts";
import type { Clock } from "../platform/world.ts";
import type { Policy } from "../protocol/agents.ts";
import type { AcpClient } from "./acp-client.ts";
import type { Journal } from "./journal.ts";
import type { AgentSession } from "./session.ts";

export interface Prompt {
  promptId: string;
  text: string;
  policy: Policy;
  /** Who asked, as the others see it. */
  clientId: string;
  /** Its session is made for it alone. */
  closes?: boolean;
}

export interface SessionOptions {
  name: string;
  agent: string;
  displayName: string;
  cwd: string;
}

export interface SessionDeps {
  clock: Clock;
  /** Waking milliseconds. */
  now(): number;
  /** How many of them ago that was. */
  since(at: string): number;
  journal: Journal;
  /** The agent with this session open in it. */
  ready(session: AgentSession): Promise<AcpClient>;
  /** This agent does not have it open any more, although it lives. */
  forgotten(session: AgentSession, client: AcpClient): void;
  changed(session: AgentSession): void;
}

export interface Work extends Omit<IdleState, "pin"> {
  turn: "idle" | "running" | "waiting";
  /** Of the turn that runs. */
  promptId: string | undefined;
}

/** No turn, no queue, no question, and no tool that runs on. */
export const hasNothingToDo = ({ work: { turn, queued, openToolCalls } }: AgentSession): boolean =>
  turn === "idle" && queued + openToolCalls === 0;

/** Made for one prompt, which is over, and nobody looks on. */
export const isDone = ({ fold, viewers }: AgentSession): boolean =>
  fold.closes === true && !fold.closed && fold.open.length === 0 && viewers.size === 0;

/** An earlier host left nothing to go on with; one that was made for a prompt may have to be closed. */
export const isAtRest = ({ fold, isPostponed }: AgentSession): boolean =>
  fold.open.length === 0 && !fold.closes && !isPostponed;
