// What does a scripted brain do? It chooses what the test wrote, and keeps what it was told and when it was cancelled.
import type { Brain, Briefing, Choice, Done, Situation, Thought } from "../../../src/browser/brain.ts";
import { thought } from "../../../src/browser/brain.ts";
import type { BrainAction, Plan, Verdict } from "../../../src/protocol/web-task.ts";

export interface Script {
  url?: string;
  looks?: boolean;
  /** By how many actions this brain has chosen since the last reset. */
  actions: readonly (BrainAction | "unfit")[];
  verdicts?: readonly Verdict[];
  /** Run at the n-th plan or choice, counted from 1; a promise is waited for. */
  onPlan?(count: number, signal: AbortSignal): void | Promise<void>;
  onJudge?(count: number): void;
  onNext?(count: number, signal: AbortSignal): void | Promise<void>;
}

export interface ScriptedBrain extends Brain {
  readonly plans: Briefing[];
  readonly situations: Situation[];
  readonly judged: Done[];
  readonly resets: (Plan | undefined)[];
  /** Calls that were cancelled. */
  readonly cancelled: string[];
}

export const PLAN: Plan = { successCriteria: "It says Hello", plan: "Fill and save", actionItems: ["fill", "save"] };

export function scriptedBrain(script: Script): ScriptedBrain {
  const plans: Briefing[] = [];
  const situations: Situation[] = [];
  const judged: Done[] = [];
  const resets: (Plan | undefined)[] = [];
  const cancelled: string[] = [];
  let at = 0;
  const watch = (what: string, signal: AbortSignal) => signal.addEventListener("abort", () => cancelled.push(what));
  return {
    kind: "model",
    looks: script.looks ?? true,
    plans,
    situations,
    judged,
    resets,
    cancelled,
    async plan(briefing, signal) {
      plans.push(briefing);
      watch("plan", signal);
      await script.onPlan?.(plans.length, signal);
      return thought({ ...PLAN, url: script.url });
    },
    async next(situation, signal): Promise<Thought<Choice>> {
      situations.push(situation);
      watch("next", signal);
      await script.onNext?.(situations.length, signal);
      const action = script.actions[at++];
      if (action === "unfit") return { kind: "unfit", why: "This is no JSON" };
      const chosen = action ?? { action: "done", answer: "Hello" };
      return thought({ action: chosen, fingerprint: JSON.stringify(chosen) });
    },
    async judge(done) {
      judged.push({ ...done, history: [...done.history], data: { ...done.data } });
      script.onJudge?.(judged.length);
      return thought(script.verdicts?.[judged.length - 1] ?? { success: true, feedback: "" });
    },
    reset(_, plan) {
      resets.push(plan);
      at = 0;
    },
    end: async () => {},
  };
}

/** For what never answers by itself. */
export const forever = (): Promise<never> => new Promise(() => {});
