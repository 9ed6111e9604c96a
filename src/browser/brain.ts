// What is a brain to the task loop? It plans, chooses the next action and judges the answer; how is its own affair.
import type { BrainAction, PageAction, Plan, Verdict } from "../protocol/web-task.ts";
import type { Sight } from "./playwright-browser.ts";

/** An answer that does not fit is told why and asked for again; it counts as an error of the agent. */
export type Thought<Value> = { kind: "thought"; value: Value } | { kind: "unfit"; why: string };

export interface Briefing {
  task: string;
  /** Set by the caller: the plan has to begin there. */
  startUrl: string | undefined;
  secrets: readonly string[];
}

export interface Situation {
  iteration: number;
  maxIterations: number;
  /** Undefined for a brain that does not look. */
  sight: Sight | undefined;
  /** What came of the last action, and whatever else must be known. */
  news: readonly string[];
}

export interface Choice {
  action: BrainAction | PageAction;
  /** Two with the same are the same action. */
  fingerprint: string;
  thought?: string;
}

export interface Done {
  task: string;
  successCriteria: string;
  answer: string;
  history: readonly string[];
  data: Readonly<Record<string, string>>;
}

export interface Brain {
  readonly kind: "steps" | "agent" | "model";
  /** Whether it wants to see the page. */
  readonly looks: boolean;
  plan(briefing: Briefing, signal: AbortSignal): Promise<Thought<Plan>>;
  next(situation: Situation, signal: AbortSignal): Promise<Thought<Choice>>;
  judge(done: Done, signal: AbortSignal): Promise<Thought<Verdict>>;
  /** Back to the system prompt and the task, with the plan that is kept. */
  reset(briefing: Briefing, plan: Plan | undefined): void;
  end(): Promise<void>;
}

export const thought = <Value>(value: Value): Thought<Value> => ({ kind: "thought", value });
