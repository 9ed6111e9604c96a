// What may a browser be told to do, and how is a task written down? Steps files, plans, actions and verdicts.
import { z } from "zod";

const place = {
  role: z.string().min(1).optional().describe("ARIA role, such as button, link or textbox"),
  name: z.string().optional().describe("Accessible name, together with role"),
  label: z.string().min(1).optional().describe("Label of a form field"),
  text: z.string().min(1).optional().describe("Text that is shown"),
  css: z.string().min(1).optional().describe("CSS selector"),
  nth: z.int().nonnegative().optional().describe("Which of several, counted from 0"),
};
const ref = z
  .string()
  .regex(/^[a-z0-9]+$/i, "a ref such as e3")
  .optional()
  .describe("Ref of the element in the snapshot, such as e3");

export interface Target {
  ref?: string | undefined;
  role?: string | undefined;
  name?: string | undefined;
  label?: string | undefined;
  text?: string | undefined;
  css?: string | undefined;
  nth?: number | undefined;
}

const hasOne = ({ ref: found, role, label, text, css }: Target): boolean =>
  [found, role, label, text, css].filter((each) => each !== undefined).length === 1;

/** On paper there are no refs: they last as long as one snapshot. */
const StepTarget = z.strictObject(place).refine(hasOne, "give one of role (with name), label, text or css");
const BrainTarget = z
  .strictObject({ ref, ...place })
  .refine(hasOne, "give one of ref, role (with name), label, text or css");

const action = <Name extends string, Shape extends z.ZodRawShape>(name: Name, says: string, shape: Shape) =>
  z.strictObject({ action: z.literal(name), ...shape }).describe(says);

const value = z.string().describe("What to put there; {{NAME}} stands for a secret, empty clears it");
const name = z.string().min(1).max(64).describe("Under which name it is kept");
const MAX_WAIT_MS = 60_000;
const waitMs = z.int().positive().max(MAX_WAIT_MS).optional();

const sharedActions = <Place extends z.ZodType<Target>>(target: Place) =>
  [
    action("goto", "Open a page", { url: z.string().min(1) }),
    action("back", "Go back in the history", {}),
    action("forward", "Go forward in the history", {}),
    action("click", "Click an element", { target }),
    action("fill", "Put text into a field", { target, value }),
    action("select", "Choose in a list", { target, value: z.union([z.string(), z.array(z.string())]) }),
    action("check", "Tick a box", { target }),
    action("uncheck", "Untick a box", { target }),
    action("hover", "Point at an element", { target }),
    action("press", "Press a key, such as Enter or Control+A", { key: z.string().min(1), target: target.optional() }),
    action("scroll", "Scroll the page, or an element into view", {
      direction: z.enum(["up", "down", "top", "bottom"]).optional(),
      target: target.optional(),
    }),
    action("upload", "Give files to a file field", { target, files: z.array(z.string().min(1)) }),
    action("wait", "Wait for an element to come or go, or for a time", {
      target: target.optional(),
      gone: z.boolean().optional().describe("Until it is gone"),
      ms: waitMs.describe("At most so long with a target, exactly so long without"),
    }),
    action("extract", "Keep a text of the page", {
      name,
      target: target.optional(),
      attribute: z.string().min(1).optional().describe("An attribute of it instead of its text"),
    }),
    action("screenshot", "Take a picture of the page", { name: name.optional() }),
    action("switchTab", "Go on in another tab", { index: z.int().nonnegative() }),
  ] as const;

export const Step = z.discriminatedUnion("action", [
  ...sharedActions(StepTarget),
  action("expect", "Fail the task unless this holds", {
    target: StepTarget.optional().describe("This is shown"),
    text: z.string().optional().describe("The target, or else the page, contains this text"),
    value: z.string().optional().describe("The target, a field, holds exactly this"),
    gone: z.boolean().optional().describe("The target is not shown"),
    count: z.int().nonnegative().optional().describe("So many of the target are there"),
    url: z.string().optional().describe("The address contains this"),
    title: z.string().optional().describe("The title contains this"),
    ms: waitMs.describe("How long to wait for it (default 5000)"),
  }),
]);
export type Step = z.infer<typeof Step>;

export const BrainAction = z.discriminatedUnion("action", [
  ...sharedActions(BrainTarget),
  action("done", "The task is done", { answer: z.string().min(1).describe("The answer to the task") }),
  action("abort", "The task cannot be done", { reason: z.string().min(1) }),
]);
export type BrainAction = z.infer<typeof BrainAction>;

export type PageAction = Exclude<Step | BrainAction, { action: "done" | "abort" }>;

export const StepsFile = z.strictObject({
  $schema: z.string().optional(),
  task: z.string().optional().describe("What this is for, in words"),
  startUrl: z.string().optional().describe("Opened first, and again on a new browser"),
  steps: z.array(Step).min(1),
});
export type StepsFile = z.infer<typeof StepsFile>;

export const Plan = z.object({
  successCriteria: z.string().min(1).describe("How to tell that the task is done"),
  plan: z.string().min(1).describe("The way there, in a few sentences"),
  url: z.string().optional().describe("Where to begin"),
  actionItems: z.array(z.string()).default([]).describe("The way there, step by step"),
});
export type Plan = z.infer<typeof Plan>;

export const Verdict = z.object({
  success: z.boolean().describe("Whether the answer meets the criteria"),
  feedback: z.string().default("").describe("What is missing"),
});
export type Verdict = z.infer<typeof Verdict>;

export const stepsFileSchema = (): unknown => ({
  ...z.toJSONSchema(StepsFile, { io: "input" }),
  title: "Steps file of holdfast browse",
});
