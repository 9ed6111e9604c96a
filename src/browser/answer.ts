// Does an answer fit? JSON out of prose, checked; what does not fit is said in words a brain can act on.
import { z } from "zod";
import { BrainAction, type Plan, type Verdict } from "../protocol/web-task.ts";
import { type Choice, type Thought, thought } from "./brain.ts";

/** The first whole object in the text, fenced or not. */
export function findJson(text: string): unknown {
  for (let start = text.indexOf("{"); start !== -1; start = text.indexOf("{", start + 1)) {
    const end = endOfObject(text, start);
    if (end === undefined) continue;
    try {
      return JSON.parse(text.slice(start, end));
    } catch {
      // Perhaps the next one.
    }
  }
  return undefined;
}

function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (quoted && sign === "\\") at++;
    else if (sign === '"') quoted = !quoted;
    else if (!quoted && sign === "{") depth++;
    else if (!quoted && sign === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}

export function fit<Value>(schema: z.ZodType<Value>, value: unknown): Thought<Value> {
  if (value === undefined)
    return { kind: "unfit", why: "The answer holds no JSON object; answer with one and nothing else" };
  const result = schema.safeParse(value);
  if (result.success) return thought(result.data);
  return { kind: "unfit", why: `The answer does not fit: ${z.prettifyError(result.error).replaceAll("\n", " ")}` };
}

export function fitChoice(value: unknown): Thought<Choice> {
  const { thought: why, ...rest } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const found = fit<BrainAction>(BrainAction, value === undefined ? undefined : rest);
  if (found.kind === "unfit") return found;
  return thought({
    action: found.value,
    fingerprint: JSON.stringify(found.value),
    ...(typeof why === "string" ? { thought: why } : {}),
  });
}

export type { Plan, Verdict };
