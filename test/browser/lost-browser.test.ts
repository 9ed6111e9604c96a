// Does a task finish although its browser dies or freezes? Real Chromium, in every place where it can happen.
import { afterAll, describe, expect, test } from "bun:test";
import type { BrainAction } from "../../src/protocol/web-task.ts";
import { forever, PLAN, type Script, type ScriptedBrain, scriptedBrain } from "./support/brain.ts";
import { type Chromium, chromiumStable } from "./support/chromium.ts";
import { type Ran, runTask, type TaskEvent } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});

const TO = 60_000;
const FILL: BrainAction = { action: "fill", target: { label: "Name" }, value: "Ada" };
const SAVE: BrainAction = { action: "click", target: { role: "button", name: "Save" } };
const WAYS = { "kill -9": "kill", SIGSTOP: "freeze" } as const;
type End = (chromium: Chromium | undefined) => void;

interface Case {
  where: string;
  browsers: number;
  script(end: End, all: readonly Chromium[]): Partial<Script>;
  onEvent?(end: End, all: readonly Chromium[]): (event: TaskEvent, count: number) => void;
  /** Of the whole task, the last that chose `done` included. */
  iterations: number;
  plans: number;
  endpointIndex: number;
  cancelled: string[];
  /** What the start page gets from the new browser: cookies are saved after each settled step. */
  cookie: string | null;
}

const CASES: Case[] = [
  {
    where: "during an action",
    browsers: 2,
    script: () => ({}),
    onEvent:
      (end, [first]) =>
      ({ type }, count) => {
        if (type === "browser:action_started" && count === 2) end(first);
      },
    // fill, click (lost), fill, click, done
    iterations: 5,
    plans: 1,
    endpointIndex: 1,
    cancelled: [],
    cookie: "visit=1",
  },
  {
    where: "while the brain is thinking",
    browsers: 2,
    script: (end, [first]) => ({
      async onNext(count) {
        if (count !== 2) return;
        end(first);
        await forever();
      },
    }),
    iterations: 5,
    plans: 1,
    endpointIndex: 1,
    cancelled: ["next"],
    cookie: "visit=1",
  },
  {
    where: "before a snapshot",
    browsers: 2,
    script: () => ({}),
    onEvent:
      (end, [first]) =>
      ({ type }, count) => {
        // The last event of the step: what comes next is the snapshot, or the state that is saved.
        if (type === "browser:action_completed" && count === 1) end(first);
      },
    iterations: 4,
    plans: 1,
    endpointIndex: 1,
    cancelled: [],
    cookie: null,
  },
  {
    where: "during planning",
    browsers: 2,
    script: (end, [first]) => ({
      async onPlan(count) {
        if (count !== 1) return;
        end(first);
        await forever();
      },
    }),
    iterations: 4,
    // There was none to keep.
    plans: 2,
    endpointIndex: 1,
    cancelled: ["plan"],
    cookie: null,
  },
  {
    where: "during recovery",
    browsers: 3,
    script: (end, [first]) => ({
      onNext(count) {
        if (count === 2) end(first);
      },
    }),
    onEvent:
      (end, [, second]) =>
      ({ type, data }) => {
        if (type === "cdp:endpoint_connected" && data["endpointIndex"] === 1) end(second);
      },
    iterations: 6,
    plans: 1,
    endpointIndex: 2,
    cancelled: [],
    cookie: "visit=1",
  },
];

const onlyOf = (ran: Ran): string[] =>
  ran.types("browser:action_started", "browser:action_completed", "agent:step", "task:started", "browser:navigated");

function expectFinished(ran: Ran, brain: ScriptedBrain, wanted: Case, total: number): void {
  expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
  expect(ran.stats).toMatchObject({
    totalErrors: 0,
    reconnects: 1,
    iterations: wanted.iterations,
    endpointIndex: wanted.endpointIndex,
  });
  const lost = wanted.where === "during recovery" ? ["browser:disconnected", "cdp:endpoint_connected"] : [];
  const recovery = [...lost, "browser:disconnected", "cdp:endpoint_connected", "browser:reconnected"];
  expect(onlyOf(ran)).toEqual(
    wanted.plans === 2
      ? ["cdp:endpoint_connected", ...recovery, "task:planned", "task:validated", "task:completed"]
      : ["cdp:endpoint_connected", "task:planned", ...recovery, "task:validated", "task:completed"],
  );
  expect(ran.of("browser:reconnected")).toEqual([
    // Without a plan nobody knows yet where to begin.
    { startingUrl: wanted.plans === 2 ? "about:blank" : `${site.url}/`, endpointIndex: wanted.endpointIndex, total },
  ]);
  expect(brain.plans).toHaveLength(wanted.plans);
  expect(brain.cancelled).toEqual(wanted.cancelled);
  expect(site.cookies.at(-1)).toBe(wanted.cookie);
  expect(brain.resets.at(-1)).toEqual({ ...PLAN, url: `${site.url}/` });
  expect(ran.result?.end.plan).toEqual({ ...PLAN, url: `${site.url}/` });
}

for (const [name, way] of Object.entries(WAYS)) {
  describe(name, () => {
    for (const wanted of CASES) {
      test(
        `[BR5] [WA2] [WA3] [WA4] [WB1] ${name} ${wanted.where}: the task goes on in the next browser, nothing counted, plan and cookies kept`,
        async () => {
          const all = await stable.take(wanted.browsers);
          const end: End = (chromium) => chromium?.[way]();
          const brain = scriptedBrain({ url: `${site.url}/`, actions: [FILL, SAVE], ...wanted.script(end, all) });
          const onEvent = wanted.onEvent?.(end, all);
          const ran = await runTask({
            endpoints: all.map(({ url }) => url),
            brain,
            ...(onEvent ? { onEvent } : {}),
          });
          expectFinished(ran, brain, wanted, all.length);
        },
        TO,
      );
    }
  });
}

test(
  "[WA4] [BR2] one endpoint only: its loss ends the task with a hard error, exit code 8, and no count of errors",
  async () => {
    const [only] = await stable.take(1);
    const brain = scriptedBrain({
      url: `${site.url}/`,
      actions: [FILL],
      async onNext() {
        only?.kill();
        await forever();
      },
    });
    const ran = await runTask({ endpoints: [only?.url ?? ""], brain });
    expect(ran.code).toBe(8);
    expect(String(ran.thrown)).toContain("All 1 browser endpoints are used up");
    expect(ran.stats).toMatchObject({ totalErrors: 0, reconnects: 0 });
    expect(onlyOf(ran)).toEqual(["cdp:endpoint_connected", "task:planned", "browser:disconnected", "task:completed"]);
  },
  TO,
);

test(
  "[WA2] after a reconnect it is the start URL that is opened, never the last page; about:blank is not opened at all",
  async () => {
    const all = await stable.take(2);
    const brain = scriptedBrain({
      url: `${site.url}/`,
      actions: [{ action: "goto", url: `${site.url}/tab` }],
      async onNext(count) {
        if (count !== 2) return;
        all[0]?.kill();
        await forever();
      },
    });
    const ran = await runTask({ endpoints: all.map(({ url }) => url), brain });
    const [reconnected] = ran.of("browser:reconnected");
    expect(reconnected).toMatchObject({ startingUrl: `${site.url}/` });
    const at = ran.events.findIndex(({ type }) => type === "browser:reconnected");
    expect(
      ran.events
        .slice(0, at)
        .filter(({ type }) => type === "browser:navigated")
        .at(-1)?.data,
    ).toEqual({
      url: `${site.url}/`,
    });
    const blank = await stable.take(2);
    site.visits.length = 0;
    const still = scriptedBrain({
      actions: [],
      async onNext(count) {
        if (count !== 1) return;
        blank[0]?.kill();
        await forever();
      },
    });
    const second = await runTask({ endpoints: blank.map(({ url }) => url), brain: still });
    expect(second.of("browser:reconnected")).toMatchObject([{ startingUrl: "about:blank" }]);
    expect(site.visits).toEqual([]);
  },
  TO,
);

test(
  "[BR7] [WA6] a browser that freezes when the answer is there takes nothing along: it is judged, and closing is given up",
  async () => {
    const [only] = await stable.take(1);
    const brain = scriptedBrain({ url: `${site.url}/`, actions: [], onJudge: () => only?.freeze() });
    const ran = await runTask({ endpoints: [only?.url ?? ""], brain });
    expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
    expect(ran.types()).not.toContain("browser:disconnected");
  },
  TO,
);
