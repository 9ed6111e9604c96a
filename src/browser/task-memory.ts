// What is remembered of a task? What was done, what was kept, what the brain must be told next, and the steps of it.
import { durableStep } from "../core/durable-target.ts";
import type { PageAction, Step } from "../protocol/web-task.ts";

export interface TaskMemory {
  readonly history: readonly string[];
  readonly data: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  /** What the brain has not heard yet. */
  readonly news: readonly string[];
  heard(): void;
  saw(tree: string): void;
  kept(name: string, value: string): void;
  did(action: PageAction, said: readonly string[], warn: boolean): void;
  failed(action: PageAction, message: string): void;
  unfit(why: string): void;
  judgedWrong(feedback: string): void;
  /**
   * `again`: where a task that goes on from what was done begins; undefined for one that does all of it again.
   * `missing`: what the new browser did not take of the old one's state; undefined where it got none.
   */
  reconnected(again: string | undefined, missing: readonly string[] | undefined): void;
}

const WARNING =
  "You chose the same action four times in a row; a fifth time ends the task without doing it. Try another way";

export function createTaskMemory(): TaskMemory {
  const history: string[] = [];
  const data: Record<string, string> = {};
  let steps: Step[] = [];
  let news: string[] = [];
  let tree = "";

  const newsOfReconnect = (missing: readonly string[] | undefined): string[] => {
    const kept = Object.entries(data).map(([name, value]) => `${name}: ${value}`);
    const how = missing ? ", with the cookies and storage of the old one" : ", blank";
    return [
      `The browser was lost and replaced: this is a new browser at the start page${how}. Work that the site had not saved is gone.`,
      ...(missing && missing.length > 0
        ? [`Not restored, so you may have to log in again:\n${missing.join("\n")}`]
        : []),
      ...(history.length > 0 ? [`Done so far on the old one:\n${history.join("\n")}`] : []),
      ...(kept.length > 0 ? [`Data that is kept:\n${kept.join("\n")}`] : []),
    ];
  };

  return {
    history,
    data,
    get steps() {
      return steps;
    },
    get news() {
      return news;
    },
    heard() {
      news = [];
    },
    saw(seen) {
      tree = seen;
    },
    kept(name, value) {
      data[name] = value;
    },
    did(action, said, warn) {
      history.push([JSON.stringify(action), ...said].join(" → "));
      news.push(`"${action.action}" is done`, ...said, ...(warn ? [WARNING] : []));
      const step = durableStep(tree, action);
      if (step) steps.push(step);
    },
    failed(action, message) {
      news.push(`"${action.action}" failed: ${message}`);
      history.push(`${JSON.stringify(action)} failed: ${message}`);
    },
    unfit(why) {
      history.push(`(an answer that did not fit: ${why})`);
    },
    judgedWrong(feedback) {
      history.push(`The answer did not pass: ${feedback}`);
      news.push(`Your answer did not pass: ${feedback}`);
    },
    reconnected(again, missing) {
      news = newsOfReconnect(missing);
      // A blank browser does all of it again; one with its state carried along goes on from what was done.
      if (again === undefined) steps = [];
      else if (again !== "about:blank") steps.push({ action: "goto", url: again });
    },
  };
}
