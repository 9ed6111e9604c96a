// Can a task run without a model? The steps of a file, one after the other; on a new browser from the first one on.
import type { StepsFile } from "../protocol/web-task.ts";
import { type Brain, thought } from "./brain.ts";

export function createStepsBrain({ steps, task, startUrl }: StepsFile): Brain {
  let at = 0;
  return {
    kind: "steps",
    looks: false,
    plan: async (briefing) =>
      thought({
        successCriteria: "Every step is done and every expectation holds",
        plan: task ?? briefing.task,
        url: briefing.startUrl ?? startUrl,
        actionItems: steps.map(({ action }) => action),
      }),
    async next() {
      const index = at++;
      const step = steps[index];
      // A file may well say the same five times: it is the place in it that makes a step.
      if (step) return thought({ action: step, fingerprint: `step ${index + 1}` });
      return thought({ action: { action: "done", answer: `All ${steps.length} steps are done` }, fingerprint: "done" });
    },
    // Whatever did not hold has ended the task before.
    judge: async () => thought({ success: true, feedback: "" }),
    reset() {
      at = 0;
    },
    end: async () => {},
  };
}
