// How does a model behind an OpenAI-compatible address drive a browser? Each action is a tool; it calls one at a time.
import { z } from "zod";
import { BrainAction, Plan, Verdict } from "../protocol/web-task.ts";
import { findJson, fit, fitChoice } from "./answer.ts";
import type { Brain, Briefing, Thought } from "./brain.ts";
import type { Chat, Message, Tool } from "./chat.ts";
import { createMarks, judgePrompt, PLAN_ASK, situationPrompt, systemPrompt, taskPrompt } from "./prompts.ts";
import type { ChatAnswer } from "./sse.ts";

const tool = (name: string, description: string, schema: z.ZodType): Tool => {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return { name, description, parameters };
};

const actionTools = (): Tool[] =>
  BrainAction.options.map((option) => {
    const { action, ...shape } = option.shape;
    return tool(action.value, option.description ?? action.value, z.strictObject(shape as z.ZodRawShape));
  });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return undefined;
  }
};

/** Only the newest page stays in the conversation. */
const withoutPage = (message: Message): Message =>
  message.role === "user" && message.content.startsWith("Iteration ")
    ? { ...message, content: "(an earlier page, left out)" }
    : message;

export function createHttpBrain(chat: Chat, nonce: string): Brain {
  const marks = createMarks(nonce);
  const tools = actionTools();
  let messages: Message[] = [];

  const begin = (briefing: Briefing, plan: Plan | undefined): void => {
    messages = [
      { role: "system", content: systemPrompt(marks, briefing) },
      { role: "user", content: taskPrompt(briefing, plan) },
    ];
  };

  const remember = (asked: Message, { text, calls }: ChatAnswer): void => {
    const [call] = calls;
    messages = [
      ...messages,
      asked,
      call
        ? {
            role: "assistant",
            content: text,
            tool_calls: [
              { id: call.id || "call", type: "function", function: { name: call.name, arguments: call.arguments } },
            ],
          }
        : { role: "assistant", content: text },
    ];
  };
  const reply = (content: string): void => {
    const last = messages.at(-1);
    const [call] = last?.role === "assistant" ? (last.tool_calls ?? []) : [];
    if (call) messages.push({ role: "tool", content, tool_call_id: (call as { id: string }).id });
    else messages.push({ role: "user", content });
  };

  const ask = async <Value>(
    content: string,
    offered: readonly Tool[],
    read: (answer: ChatAnswer) => Thought<Value>,
    signal: AbortSignal,
  ): Promise<Thought<Value>> => {
    const asked: Message = { role: "user", content };
    messages = messages.map(withoutPage);
    const answer = await chat([...messages, asked], offered, signal);
    const found = read(answer);
    remember(asked, answer);
    reply(found.kind === "unfit" ? `This was not used. ${found.why}` : "Taken; what came of it is told next.");
    return found;
  };
  const argumentsOf = ({ calls, text }: ChatAnswer): unknown => (calls[0] ? parse(calls[0].arguments) : findJson(text));

  return {
    kind: "model",
    looks: true,
    plan(briefing, signal) {
      if (messages.length === 0) begin(briefing, undefined);
      return ask(PLAN_ASK, [tool("plan", PLAN_ASK, Plan)], (answer) => fit(Plan, argumentsOf(answer)), signal);
    },
    next: (situation, signal) =>
      ask(
        situationPrompt(marks, situation),
        tools,
        (answer) => {
          const given = argumentsOf(answer);
          const name = answer.calls[0]?.name;
          if (typeof given !== "object" || given === null) return fitChoice(undefined);
          return fitChoice(name === undefined ? given : { ...given, action: name });
        },
        signal,
      ),
    async judge(done, signal) {
      // By itself: the judge must not be led by what the worker thought.
      const answer = await chat(
        [{ role: "user", content: judgePrompt(marks, done) }],
        [tool("verdict", "Whether the task was done", Verdict)],
        signal,
      );
      const found = fit(Verdict, argumentsOf(answer));
      if (found.kind === "thought" && !found.value.success) {
        messages.push({ role: "user", content: `The answer was judged and did not pass: ${found.value.feedback}` });
      }
      return found;
    },
    reset: begin,
    end: async () => {},
  };
}
