// How does an agent of the bridge drive a browser? Plan and each next action are prompts; answers are JSON.
import { z } from "zod";
import { BrainAction, Plan, Verdict } from "../protocol/web-task.ts";
import { findJson, fit, fitChoice } from "./answer.ts";
import type { Brain, Briefing, Thought } from "./brain.ts";
import { createMarks, judgePrompt, PLAN_ASK, situationPrompt, systemPrompt, taskPrompt } from "./prompts.ts";

/** One conversation with an agent. Throws a fault when the agent is lost, or may not be used. */
export interface AgentTalk {
  ask(text: string, signal: AbortSignal): Promise<string>;
  end(): Promise<void>;
}

export interface AcpBrainOptions {
  open(): AgentTalk;
  nonce(): string;
}

const schemaText = (schema: z.ZodType): string => JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
const only = (what: string, schema: z.ZodType): string =>
  `Use no tools of your own. Answer with one JSON object and nothing else. ASK: ${what}\nIts JSON Schema: ${schemaText(schema)}`;

export function createAcpBrain({ open, nonce }: AcpBrainOptions): Brain {
  const marks = createMarks(nonce());
  const ended: Promise<void>[] = [];
  let talk = open();
  /** What a fresh conversation begins with. */
  let preface: string | undefined;
  let schemaSaid = false;
  let complaint: string | undefined;

  const begin = (briefing: Briefing, plan: Plan | undefined): void => {
    preface = `${systemPrompt(marks, briefing)}\n\n${taskPrompt(briefing, plan)}`;
    schemaSaid = false;
    complaint = undefined;
  };
  const ask = async <Value>(
    parts: readonly (string | undefined)[],
    read: (value: unknown) => Thought<Value>,
    signal: AbortSignal,
  ): Promise<Thought<Value>> => {
    const text = [preface, complaint, ...parts].filter((part) => part !== undefined).join("\n\n");
    const said = await talk.ask(text, signal);
    preface = undefined;
    const found = read(findJson(said));
    complaint = found.kind === "unfit" ? `Your last answer was not used. ${found.why}` : undefined;
    return found;
  };
  const fresh = (): void => {
    ended.push(talk.end());
    talk = open();
  };

  return {
    kind: "agent",
    looks: true,
    plan(briefing, signal) {
      if (complaint === undefined) begin(briefing, undefined);
      return ask([PLAN_ASK, only("plan", Plan)], (value) => fit(Plan, value), signal);
    },
    async next(situation, signal) {
      // Said once per conversation: it is long.
      const how = schemaSaid ? "Answer with one JSON object as before. ASK: action" : only("action", BrainAction);
      const found = await ask([situationPrompt(marks, situation), how], fitChoice, signal);
      schemaSaid = true;
      return found;
    },
    judge: (done, signal) =>
      ask([judgePrompt(marks, done), only("verdict", Verdict)], (value) => fit(Verdict, value), signal),
    reset(briefing, plan) {
      fresh();
      begin(briefing, plan);
    },
    async end() {
      await Promise.allSettled([...ended, talk.end()]);
    },
  };
}
