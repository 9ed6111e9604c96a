// What does a web task do next? The state is itself the instruction; a lost browser is no error of the agent.
import type { BrainAction, PageAction, Plan } from "../protocol/web-task.ts";

export interface Limits {
  maxIterations: number;
  maxConsecutiveErrors: number;
  maxTotalErrors: number;
}

export const DEFAULT_LIMITS: Limits = { maxIterations: 50, maxConsecutiveErrors: 5, maxTotalErrors: 15 };
/** The fourth time in a row is warned of, the fifth is not done any more. */
const WARN_REPEATS = 4;
const MAX_REPEATS = 5;
const MAX_OPENINGS = 3;
const MAX_VALIDATIONS = 3;

export interface Tally {
  /** Counted from 1 on, and never reset. */
  iteration: number;
  consecutiveErrors: number;
  totalErrors: number;
  reconnects: number;
  validations: number;
  actions: number;
}

export const freshTally: Tally = {
  iteration: 1,
  consecutiveErrors: 0,
  totalErrors: 0,
  reconnects: 0,
  validations: 0,
  actions: 0,
};

export interface Repeats {
  fingerprint: string;
  times: number;
}

export type Reason =
  | "done"
  | "aborted"
  | "expectation"
  | "step-failed"
  | "start-url"
  | "validation"
  | "max-iterations"
  | "consecutive-errors"
  | "total-errors"
  | "repetition"
  | "endpoints-exhausted";

export const LIMIT_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  "max-iterations",
  "consecutive-errors",
  "total-errors",
  "repetition",
]);

interface Running {
  tally: Tally;
  /** Once made it is kept, whatever becomes of browsers. */
  plan?: Plan | undefined;
  repeats: Repeats;
}

export type WebTask =
  | ({ state: "planning" } & Running)
  | ({ state: "opening"; tries: number } & Running)
  | ({ state: "choosing" } & Running)
  | ({ state: "performing"; action: PageAction; warn: boolean } & Running)
  | ({ state: "validating"; answer: string } & Running)
  | ({ state: "reconnecting"; error: string } & Running)
  /** The new browser is there, its start page did not open yet. */
  | ({ state: "reopening"; tries: number } & Running)
  | { state: "over"; reason: Reason; message: string; answer?: string; tally: Tally; plan?: Plan | undefined };

export type TaskOutcome =
  | { kind: "planned"; plan: Plan }
  | { kind: "opened" }
  | { kind: "open-failed"; message: string }
  | { kind: "chose"; action: BrainAction | PageAction; fingerprint: string }
  | { kind: "performed" }
  /** The agent's fault: a bad answer, an action that failed. */
  | { kind: "erred"; message: string }
  /** What a steps file demands does not hold, or cannot be done: there is nobody to find another way. */
  | { kind: "unmet"; reason: "expectation" | "step-failed"; message: string }
  | { kind: "judged"; success: boolean; feedback: string }
  | { kind: "disconnected"; message: string }
  | { kind: "reconnected" }
  | { kind: "exhausted"; message: string };

export const startTask = (): WebTask => ({
  state: "planning",
  tally: freshTally,
  repeats: { fingerprint: "", times: 0 },
});

const impossible = (task: WebTask, outcome: TaskOutcome): never => {
  throw new Error(`A web task cannot go from "${task.state}" by "${outcome.kind}"`);
};

type Unfinished = Exclude<WebTask, { state: "over" }>;

const over = ({ tally, plan }: Running, reason: Reason, message: string, answer?: string): WebTask => ({
  state: "over",
  reason,
  message,
  ...(answer === undefined ? {} : { answer }),
  tally,
  plan,
});

/** One more iteration of the one budget, or the end of it. */
function onwards(task: Running, limits: Limits, then: (running: Running) => WebTask): WebTask {
  const { tally, plan, repeats } = task;
  if (tally.iteration >= limits.maxIterations) {
    const message = `The task was not done within ${limits.maxIterations} iterations; raise it with --max-iterations`;
    return over(task, "max-iterations", message);
  }
  return then({ plan, repeats, tally: { ...tally, iteration: tally.iteration + 1 } });
}

const choosing = (running: Running): WebTask => ({ state: "choosing", ...running });
const afterErrorOf =
  (task: Unfinished) =>
  (running: Running): WebTask =>
    task.state === "planning" ? { state: "planning", ...running } : choosing(running);

function erred(task: Unfinished, message: string, limits: Limits): WebTask {
  const { tally } = task;
  const counted = {
    ...task,
    tally: { ...tally, consecutiveErrors: tally.consecutiveErrors + 1, totalErrors: tally.totalErrors + 1 },
  };
  if (counted.tally.consecutiveErrors >= limits.maxConsecutiveErrors) {
    return over(counted, "consecutive-errors", `${limits.maxConsecutiveErrors} errors in a row, the last: ${message}`);
  }
  if (counted.tally.totalErrors >= limits.maxTotalErrors) {
    return over(counted, "total-errors", `${limits.maxTotalErrors} errors in all, the last: ${message}`);
  }
  return onwards(counted, limits, afterErrorOf(task));
}

function chose(task: Unfinished, action: BrainAction | PageAction, fingerprint: string): WebTask {
  if (action.action === "done") return { state: "validating", answer: action.answer, ...running(task) };
  if (action.action === "abort") return over(task, "aborted", `The task was given up: ${action.reason}`);
  const times = task.repeats.fingerprint === fingerprint ? task.repeats.times + 1 : 1;
  if (times >= MAX_REPEATS) {
    return over(task, "repetition", `The same action was chosen ${MAX_REPEATS} times in a row: ${fingerprint}`);
  }
  const repeats = { fingerprint, times };
  return { state: "performing", action, warn: times === WARN_REPEATS, ...running(task), repeats };
}

const running = ({ tally, plan, repeats }: Running): Running => ({ tally, plan, repeats });

export function nextTask(task: WebTask, outcome: TaskOutcome, limits: Limits): WebTask {
  if (task.state === "over") return impossible(task, outcome);
  if (outcome.kind === "exhausted") return over(task, "endpoints-exhausted", outcome.message);
  if (outcome.kind === "disconnected") {
    const { message } = outcome;
    return onwards(task, limits, (now) => ({ state: "reconnecting", error: message, ...now }));
  }
  switch (task.state) {
    case "planning":
      if (outcome.kind === "planned") return { state: "opening", tries: 0, ...running(task), plan: outcome.plan };
      if (outcome.kind === "erred") return erred(task, outcome.message, limits);
      break;
    case "opening":
      if (outcome.kind === "opened") return choosing(running(task));
      if (outcome.kind === "open-failed") return openFailed(task, outcome.message);
      break;
    case "choosing":
      if (outcome.kind === "chose") return chose(task, outcome.action, outcome.fingerprint);
      if (outcome.kind === "erred") return erred(task, outcome.message, limits);
      break;
    case "performing": {
      const { tally } = task;
      const counted = { ...task, tally: { ...tally, consecutiveErrors: 0, actions: tally.actions + 1 } };
      if (outcome.kind === "performed") return onwards(counted, limits, choosing);
      if (outcome.kind === "erred") return erred(task, outcome.message, limits);
      if (outcome.kind === "unmet") return over(task, outcome.reason, outcome.message);
      break;
    }
    case "validating":
      if (outcome.kind === "judged") return judged(task, outcome, limits);
      if (outcome.kind === "erred") return erred(task, outcome.message, limits);
      break;
    case "reconnecting":
    case "reopening":
      if (outcome.kind === "reconnected") return reconnected(task);
      if (outcome.kind === "open-failed") return openFailed(task, outcome.message);
      break;
  }
  return impossible(task, outcome);
}

/** An error in mid-validation leaves the answer behind: the brain gives it again. */
function judged(
  task: Extract<WebTask, { state: "validating" }>,
  { success, feedback }: Extract<TaskOutcome, { kind: "judged" }>,
  limits: Limits,
): WebTask {
  if (success) return over(task, "done", "The task is done", task.answer);
  const validations = task.tally.validations + 1;
  const counted = { ...running(task), tally: { ...task.tally, validations } };
  if (validations >= MAX_VALIDATIONS) {
    return over(
      counted,
      "validation",
      `The answer did not meet the criteria ${validations} times: ${feedback}`,
      task.answer,
    );
  }
  return onwards(counted, limits, choosing);
}

function reconnected({ tally, plan }: Running): WebTask {
  const now = {
    plan,
    repeats: { fingerprint: "", times: 0 },
    tally: { ...tally, consecutiveErrors: 0, reconnects: tally.reconnects + 1 },
  };
  return plan ? choosing(now) : { state: "planning", ...now };
}

type Opens = Extract<WebTask, { state: "opening" | "reconnecting" | "reopening" }>;

function openFailed(task: Opens, message: string): WebTask {
  const tries = "tries" in task ? task.tries + 1 : 1;
  if (tries >= MAX_OPENINGS) return over(task, "start-url", `The start page did not open: ${message}`);
  return { state: task.state === "opening" ? "opening" : "reopening", tries, ...running(task) };
}
