// Where can a browser be lost? Each place with the way to hit it, and what is to come of it.
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { forever, PLAN, type Script, type ScriptedBrain } from "./brain.ts";
import type { Meddle } from "./cdp-proxy.ts";
import type { Ran, TaskEvent } from "./run-task.ts";
import type { Site } from "./site.ts";

export interface Loss {
  where: string;
  script?(end: () => void): Partial<Script>;
  onEvent?(end: () => void): (event: TaskEvent, count: number) => void;
  /** Asked for each command on its way to the browser. */
  meddle?(end: () => void): Meddle;
  /** Called before the task begins. */
  prepare?(end: () => void, site: Site): void;
  /** Of the whole task, the last that chose `done` included. */
  iterations: number;
  plans: number;
  /** How many browsers are lost. */
  lost: number;
  cancelled: string[];
  /** What the start page gets from the new browser: cookies are saved after each settled step. */
  cookie: string | null;
  /** Iterations with a picture in the out folder. */
  pictures?: number[];
}

/** In each of them `end` ends the browser that is active. */
export const LOSSES: readonly Loss[] = [
  {
    where: "during an action",
    onEvent:
      (end) =>
      ({ type }, count) => {
        if (type === "browser:action_started" && count === 2) end();
      },
    // fill, click (lost), fill, click, done
    iterations: 5,
    plans: 1,
    lost: 1,
    cancelled: [],
    cookie: "visit=1",
  },
  {
    where: "while the brain is thinking",
    script: (end) => ({
      async onNext(count) {
        if (count !== 2) return;
        end();
        await forever();
      },
    }),
    iterations: 5,
    plans: 1,
    lost: 1,
    cancelled: ["next"],
    cookie: "visit=1",
  },
  {
    where: "before a snapshot",
    onEvent:
      (end) =>
      ({ type }, count) => {
        // The last event of the step: what comes next is the snapshot, or the state that is saved.
        if (type === "browser:action_completed" && count === 1) end();
      },
    iterations: 4,
    plans: 1,
    lost: 1,
    cancelled: [],
    cookie: null,
  },
  {
    where: "during a screenshot",
    meddle(end) {
      let count = 0;
      return ({ method }) => {
        if (method === "Page.captureScreenshot" && ++count === 2) end();
        return undefined;
      };
    },
    iterations: 5,
    plans: 1,
    lost: 1,
    cancelled: [],
    cookie: "visit=1",
    pictures: [1, 3, 4, 5],
  },
  {
    where: "during planning",
    script: (end) => ({
      async onPlan(count) {
        if (count !== 1) return;
        end();
        await forever();
      },
    }),
    iterations: 4,
    // There was none to keep.
    plans: 2,
    lost: 1,
    cancelled: ["plan"],
    cookie: null,
  },
  {
    where: "while the start page hangs",
    prepare: (end, site) => site.hang("/", end),
    iterations: 4,
    plans: 1,
    lost: 1,
    cancelled: [],
    cookie: null,
  },
  {
    where: "during recovery",
    script: (end) => ({
      onNext(count) {
        if (count === 2) end();
      },
    }),
    onEvent:
      (end) =>
      ({ type }, count) => {
        if (type === "cdp:endpoint_connected" && count === 2) end();
      },
    iterations: 6,
    plans: 1,
    lost: 2,
    cancelled: [],
    cookie: "visit=1",
  },
];

/** Those that say little. */
export const outlineOf = (ran: Ran): string[] =>
  ran.types("browser:action_started", "browser:action_completed", "agent:step", "task:started", "browser:navigated");

export function expectFinished(ran: Ran, brain: ScriptedBrain, wanted: Loss, site: Site): void {
  expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
  const used = ran.of("cdp:endpoint_connected").map(({ endpointIndex }) => endpointIndex);
  // Each loss costs one, and none is used again.
  expect(new Set(used).size).toBe(wanted.lost + 1);
  const endpointIndex = used.at(-1);
  expect(ran.stats).toMatchObject({ totalErrors: 0, reconnects: 1, iterations: wanted.iterations, endpointIndex });
  const recovery = [
    ...Array<string[]>(wanted.lost).fill(["browser:disconnected", "cdp:endpoint_connected"]).flat(),
    "browser:reconnected",
  ];
  expect(outlineOf(ran)).toEqual(
    wanted.plans === 2
      ? ["cdp:endpoint_connected", ...recovery, "task:planned", "task:validated", "task:completed"]
      : ["cdp:endpoint_connected", "task:planned", ...recovery, "task:validated", "task:completed"],
  );
  expect(ran.of("browser:disconnected").map(({ endpointIndex: at }) => at)).toEqual(used.slice(0, -1));
  expect(ran.of("browser:reconnected")).toEqual([
    // Without a plan nobody knows yet where to begin.
    { startingUrl: wanted.plans === 2 ? "about:blank" : `${site.url}/`, endpointIndex, total: wanted.lost + 1 },
  ]);
  expect(brain.plans).toHaveLength(wanted.plans);
  expect(brain.cancelled).toEqual(wanted.cancelled);
  expect(site.cookies.at(-1)).toBe(wanted.cookie);
  expect(brain.resets.at(-1)).toEqual({ ...PLAN, url: `${site.url}/` });
  expect(ran.result?.end.plan).toEqual({ ...PLAN, url: `${site.url}/` });
}

export function expectPictures(out: string, wanted: readonly number[]): void {
  const iterations = [1, 2, 3, 4, 5, 6];
  const kept = (name: string) => iterations.filter((each) => existsSync(`${out}/steps/00${each}/${name}`));
  expect(kept("screenshot.png")).toEqual([...wanted]);
  // The tree comes first: it was a picture that the loss cut short.
  expect(kept("tree.yml")).toEqual(iterations.slice(0, wanted.at(-1)));
}
