// What does a web task do next, by what happened? Every limit, every count, every way out.
import { describe, expect, test } from "bun:test";
import {
  DEFAULT_LIMITS,
  type Limits,
  nextTask,
  startTask,
  type TaskOutcome,
  type WebTask,
} from "../../src/core/web-task.ts";

const PLAN = { successCriteria: "it shows", plan: "go there", url: "http://a/", actionItems: ["go"] };
const click = (ref: string): TaskOutcome => {
  const action = { action: "click", target: { ref } } as const;
  return { kind: "chose", action, fingerprint: JSON.stringify(action) };
};
const ERRED: TaskOutcome = { kind: "erred", message: "no such button" };
const LOST: TaskOutcome = { kind: "disconnected", message: "gone" };
const BACK: TaskOutcome = { kind: "reconnected" };
const PERFORMED: TaskOutcome = { kind: "performed" };
const CLOSED: TaskOutcome = { kind: "open-failed", message: "refused" };
const BEGUN: TaskOutcome[] = [{ kind: "planned", plan: PLAN }, { kind: "opened" }];

const after = (outcomes: readonly TaskOutcome[], limits: Limits = DEFAULT_LIMITS): WebTask =>
  outcomes.reduce((task, outcome) => nextTask(task, outcome, limits), startTask());
const times = (count: number, ...outcomes: TaskOutcome[]): TaskOutcome[] => Array(count).fill(outcomes).flat();
const reasonOf = (task: WebTask): string => (task.state === "over" ? task.reason : task.state);

describe("the way through", () => {
  test("[WA1] plan, start URL, iterations, validation, done", () => {
    const states = ["planning"];
    let task = startTask();
    const way: TaskOutcome[] = [
      ...BEGUN,
      click("e1"),
      PERFORMED,
      { kind: "chose", action: { action: "done", answer: "42" }, fingerprint: "done" },
      { kind: "judged", success: true, feedback: "" },
    ];
    for (const outcome of way) {
      task = nextTask(task, outcome, DEFAULT_LIMITS);
      states.push(task.state);
    }
    expect(states).toEqual(["planning", "opening", "choosing", "performing", "choosing", "validating", "over"]);
    expect(task).toMatchObject({ reason: "done", answer: "42", tally: { iteration: 2, totalErrors: 0, actions: 1 } });
  });

  test("[WA1] the start URL is tried three times, then the task fails with its own reason", () => {
    const planned = BEGUN.slice(0, 1);
    expect(reasonOf(after([...planned, CLOSED, CLOSED]))).toBe("opening");
    expect(reasonOf(after([...planned, CLOSED, CLOSED, CLOSED]))).toBe("start-url");
  });

  test("[BN1] an expectation that does not hold fails the task at once", () => {
    const end = after([...BEGUN, click("e1"), { kind: "unmet", reason: "expectation", message: "it says Bye" }]);
    expect(end).toMatchObject({ state: "over", reason: "expectation", message: "it says Bye" });
  });

  test("a brain that gives up ends the task with its reason, and impossible pairs throw", () => {
    const aborted: TaskOutcome = { kind: "chose", action: { action: "abort", reason: "no login" }, fingerprint: "" };
    expect(after([...BEGUN, aborted])).toMatchObject({ reason: "aborted", message: "The task was given up: no login" });
    expect(() => after([PERFORMED])).toThrow('cannot go from "planning" by "performed"');
    expect(() => after([...BEGUN, aborted, LOST])).toThrow("cannot go");
  });
});

describe("a lost browser", () => {
  const STAGES: [string, TaskOutcome[]][] = [
    ["planning", []],
    ["opening", BEGUN.slice(0, 1)],
    ["choosing", BEGUN],
    ["performing", [...BEGUN, click("e1")]],
    ["reconnecting", [...BEGUN, LOST]],
    ["reopening", [...BEGUN, LOST, CLOSED]],
  ];
  for (const [stage, way] of STAGES) {
    test(`[WA2] [WA3] while ${stage}: reconnect, no error counted, one iteration, the plan kept`, () => {
      const before = after(way);
      const lost = nextTask(before, LOST, DEFAULT_LIMITS);
      expect(before.state).toBe(stage as WebTask["state"]);
      expect(lost.state).toBe("reconnecting");
      expect(lost.tally).toMatchObject({ iteration: before.tally.iteration + 1, totalErrors: 0, consecutiveErrors: 0 });
      const back = nextTask(lost, BACK, DEFAULT_LIMITS);
      // Without a plan there is nothing to keep: it is still to be made.
      expect(back.state).toBe(stage === "planning" ? "planning" : "choosing");
      expect(back.plan).toEqual(stage === "planning" ? undefined : PLAN);
      expect(back.tally.reconnects).toBe(1);
    });
  }

  test("[WA3] a reconnect sets consecutive errors to 0 and leaves the total; a loss alone does neither", () => {
    const lost = after([...BEGUN, ...times(3, ERRED), LOST]);
    expect(lost.tally).toMatchObject({ iteration: 5, consecutiveErrors: 3, totalErrors: 3 });
    const back = nextTask(lost, BACK, DEFAULT_LIMITS);
    expect(back.tally).toMatchObject({ iteration: 5, consecutiveErrors: 0, totalErrors: 3 });
  });

  test("[WA1] [WA2] after it the start URL has the same three tries, in the same browser, and none of them is counted", () => {
    const lost = after([...BEGUN, LOST]);
    const once = nextTask(lost, CLOSED, DEFAULT_LIMITS);
    expect(once).toMatchObject({ state: "reopening", tries: 1, plan: PLAN, tally: lost.tally });
    const twice = nextTask(once, CLOSED, DEFAULT_LIMITS);
    expect(twice).toMatchObject({ state: "reopening", tries: 2, tally: lost.tally });
    expect(nextTask(twice, BACK, DEFAULT_LIMITS)).toMatchObject({ state: "choosing", tally: { reconnects: 1 } });
    expect(nextTask(twice, CLOSED, DEFAULT_LIMITS)).toMatchObject({ reason: "start-url", tally: { totalErrors: 0 } });
  });

  test("[WA4] a browser lost while its start page is tried again gives the next one all its tries", () => {
    const next = after([...BEGUN, LOST, CLOSED, CLOSED, LOST, CLOSED]);
    expect(next).toMatchObject({ state: "reopening", tries: 1, tally: { iteration: 3, reconnects: 0 } });
  });

  test("[WA3] no part of a reconnect is the agent's error or its doing: such a pair is a bug", () => {
    for (const way of [[LOST], [LOST, CLOSED]]) {
      for (const outcome of [ERRED, PERFORMED, click("e1"), ...BEGUN]) {
        expect(() => after([...BEGUN, ...way, outcome])).toThrow("cannot go from");
      }
    }
    for (const way of [[], BEGUN, [...BEGUN, click("e1")]]) {
      expect(() => after([...way, CLOSED])).toThrow('by "open-failed"');
    }
  });

  test("[WA3] reconnects use the one budget of iterations: they cannot go on for ever", () => {
    const end = after([...BEGUN, ...times(2, LOST, BACK), LOST], { ...DEFAULT_LIMITS, maxIterations: 3 });
    expect(reasonOf(end)).toBe("max-iterations");
  });

  test("[WA4] exhausted endpoints end the task at once, whatever it was doing", () => {
    for (const [, way] of STAGES) {
      const end = after([...way, { kind: "exhausted", message: "all used up" }]);
      expect(end).toMatchObject({ state: "over", reason: "endpoints-exhausted", message: "all used up" });
    }
  });

  test("[WA5] a reconnect forgets repetitions: the plan is run again, and does the same again", () => {
    const four = [...BEGUN, ...times(4, click("e1"), PERFORMED)];
    expect(reasonOf(after([...four, click("e1")]))).toBe("repetition");
    expect(reasonOf(after([...four, LOST, BACK, click("e1")]))).toBe("performing");
  });
});

describe("limits", () => {
  test("[WA5] 50 iterations, 5 errors in a row, 15 in all, by default", () => {
    expect(DEFAULT_LIMITS).toEqual({ maxIterations: 50, maxConsecutiveErrors: 5, maxTotalErrors: 15 });
  });

  test("[WA5] the 50th iteration is the last", () => {
    const acts = Array.from({ length: 50 }, (_, at) => [click(`e${at}`), PERFORMED]).flat();
    expect(reasonOf(after([...BEGUN, ...acts.slice(0, -1)]))).toBe("performing");
    expect(reasonOf(after([...BEGUN, ...acts]))).toBe("max-iterations");
  });

  test("[WA5] five errors in a row end it, an action that works in between does not let it", () => {
    expect(reasonOf(after([...BEGUN, ...times(4, ERRED)]))).toBe("choosing");
    expect(reasonOf(after([...BEGUN, ...times(5, ERRED)]))).toBe("consecutive-errors");
    expect(reasonOf(after([...BEGUN, ...times(4, ERRED), click("e1"), PERFORMED, ERRED]))).toBe("choosing");
  });

  test("[WA5] fifteen errors in all end it, however many actions work", () => {
    const mixed = Array.from({ length: 14 }, (_, at) => [ERRED, click(`e${at}`), PERFORMED]).flat();
    expect(reasonOf(after([...BEGUN, ...mixed]))).toBe("choosing");
    expect(reasonOf(after([...BEGUN, ...mixed, ERRED]))).toBe("total-errors");
  });

  test("[WA5] errors while planning count like others", () => {
    expect(reasonOf(after(times(5, ERRED)))).toBe("consecutive-errors");
  });

  test("[WA5] the fourth identical action warns, the fifth is not done; another one in between starts anew", () => {
    const same = times(3, click("e1"), PERFORMED);
    expect(after([...BEGUN, ...same.slice(2), click("e1")])).toMatchObject({ state: "performing", warn: false });
    expect(after([...BEGUN, ...same, click("e1")])).toMatchObject({ state: "performing", warn: true });
    expect(reasonOf(after([...BEGUN, ...same, click("e1"), PERFORMED, click("e1")]))).toBe("repetition");
    expect(after([...BEGUN, ...same, click("e2"), PERFORMED, click("e1")])).toMatchObject({ warn: false });
  });
});

describe("validation", () => {
  const done: TaskOutcome = { kind: "chose", action: { action: "done", answer: "41" }, fingerprint: "done" };
  const wrong: TaskOutcome = { kind: "judged", success: false, feedback: "it is 42" };

  test("[WA6] an answer that does not pass goes back to the brain, and is never accepted in the end", () => {
    expect(reasonOf(after([...BEGUN, done, wrong]))).toBe("choosing");
    const end = after([...BEGUN, ...times(3, done, wrong)]);
    expect(end).toMatchObject({ state: "over", reason: "validation" });
  });

  test("[WA6] a verdict that cannot be read counts as an error, not as success", () => {
    const task = after([...BEGUN, done, ERRED]);
    expect(task).toMatchObject({ state: "choosing", tally: { totalErrors: 1 } });
  });
});
