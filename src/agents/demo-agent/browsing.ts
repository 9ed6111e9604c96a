// Can the demo agent drive a browser? As far as its task is a script: `holdfast browse 'demo-script {"actions": […]}'`.

interface BrowsingScript {
  plan?: unknown;
  /** In order, and again from the first in a new conversation; a text is said as it stands. */
  actions: readonly unknown[];
  verdict?: unknown;
}

const TASK = /^Task: demo-script (\{.*\})$/m;
const ASKED = /\bASK: (plan|action|verdict)\b/;
const PLAN = { successCriteria: "The script is done", plan: "Follow the script" };

/** Undefined when this is no such conversation. */
export function browsingAnswer(prompts: readonly string[]): string | undefined {
  const found = TASK.exec(prompts[0] ?? "")?.[1];
  const asked = ASKED.exec(prompts.at(-1) ?? "")?.[1];
  if (found === undefined || asked === undefined) return undefined;
  const { plan = PLAN, actions, verdict = { success: true } } = JSON.parse(found) as BrowsingScript;
  const at = prompts.slice(0, -1).filter((prompt) => ASKED.exec(prompt)?.[1] === "action").length;
  const answer = { plan, verdict, action: actions[Math.min(at, actions.length - 1)] }[asked];
  return typeof answer === "string" ? answer : JSON.stringify(answer);
}
