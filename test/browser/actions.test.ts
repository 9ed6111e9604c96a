// What can be done in a page, and what is told when it cannot? One real Chromium, one action at a time.
import { afterAll, describe, expect, test } from "bun:test";
import { createStepsBrain } from "../../src/browser/steps-brain.ts";
import type { BrainAction, Step } from "../../src/protocol/web-task.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { scriptedBrain } from "./support/brain.ts";
import { chromiumStable } from "./support/chromium.ts";
import { type Ran, runTask, type TaskOptions } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";
import "./support/two-at-once.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});
const TO = 60_000;

async function run(options: Omit<TaskOptions, "endpoints">): Promise<Ran> {
  const [only] = await stable.take(1);
  return await runTask({ endpoints: [only?.url ?? ""], ...options });
}
const steps = (...list: Step[]): Promise<Ran> => run({ brain: createStepsBrain({ steps: list }) });
const at = (path: string): Step => ({ action: "goto", url: `${site.url}${path}` });
const says = (text: string): Step => ({ action: "expect", text, ms: 2_000 });
const button = (name: string) => ({ role: "button", name });

const expectDone = (ran: Ran): void =>
  expect({ thrown: ran.thrown, code: ran.code, errors: ran.stats["totalErrors"] }).toEqual({
    thrown: undefined,
    code: 0,
    errors: 0,
  });

describe("steps", () => {
  test(
    "[WA7] [BN1] goto, fill (also empty), select, check, uncheck, hover, press, scroll, upload, wait, back, forward, extract and expect do what they say",
    async () => {
      using folder = createTempDir();
      await Bun.write(folder.at("note.txt"), "hello");
      const ran = await run({
        directory: folder.path,
        brain: createStepsBrain({
          steps: [
            at("/"),
            { action: "fill", target: { label: "Name" }, value: "Bob" },
            { action: "expect", target: { label: "Name" }, value: "Bob" },
            { action: "fill", target: { label: "Name" }, value: "" },
            { action: "expect", target: { label: "Name" }, value: "" },
            { action: "press", key: "A", target: { label: "Name" } },
            { action: "press", key: "B" },
            { action: "click", target: button("Save") },
            says("Hello AB"),
            { action: "select", target: { label: "Colour" }, value: "blue" },
            { action: "expect", target: { label: "Colour" }, value: "blue" },
            { action: "check", target: { label: "Agree" } },
            { action: "expect", target: { css: "input[type=checkbox]:checked" }, count: 1 },
            { action: "uncheck", target: { label: "Agree" } },
            { action: "expect", target: { css: "input[type=checkbox]:checked" }, count: 0 },
            { action: "hover", target: button("Point") },
            says("Pointed at"),
            { action: "upload", target: { label: "File" }, files: ["note.txt"] },
            { action: "scroll", direction: "bottom" },
            { action: "scroll", target: { css: "h1" } },
            { action: "extract", name: "heading", target: { role: "heading" } },
            { action: "extract", name: "way", target: { role: "link", name: "Who" }, attribute: "href" },
            { action: "wait", target: { text: "Pointed" } },
            { action: "wait", target: { text: "Never there" }, gone: true },
            { action: "click", target: { role: "link", name: "Who" } },
            { action: "expect", url: "/who", title: "Test" },
            { action: "back" },
            { action: "expect", target: { role: "heading", name: "Form" } },
            { action: "forward" },
            { action: "expect", target: { text: "Cookie:" }, text: "visit=1" },
          ],
        }),
      });
      expectDone(ran);
      expect(ran.result?.data).toEqual({ heading: "Form", way: "/who" });
    },
    TO,
  );

  test(
    "[BN1] an expectation that fails is a failed task: exit code 1, the reason says what was found",
    async () => {
      const ran = await steps(at("/"), { action: "expect", text: "Goodbye", ms: 200 }, says("Form"));
      expect(ran.code).toBe(1);
      expect(ran.of("task:completed")).toMatchObject([{ success: false, reason: "expectation" }]);
      expect(String(ran.thrown)).toContain('does not say "Goodbye"');
      expect(ran.of("agent:step")).toHaveLength(2);
    },
    TO,
  );

  test(
    "[BN1] a step that cannot be done fails the task: nothing after it is done, exit code 1",
    async () => {
      const ran = await steps(at("/"), { action: "switchTab", index: 3 }, { action: "click", target: button("Save") });
      expect(ran.code).toBe(1);
      expect(ran.of("task:completed")).toMatchObject([{ success: false, reason: "step-failed" }]);
      expect(ran.of("agent:step")).toHaveLength(2);
    },
    TO,
  );

  test(
    "[WA7] a new tab is followed, can be left for another, and elements in frames are found",
    async () => {
      const ran = await steps(
        at("/"),
        { action: "click", target: { role: "link", name: "New tab" } },
        says("The new tab"),
        { action: "switchTab", index: 0 },
        says("Form"),
        at("/frame"),
        { action: "extract", name: "inside", target: { role: "heading" } },
      );
      expectDone(ran);
      expect(ran.result?.data).toEqual({ inside: "The new tab" });
      expect(ran.of("browser:action_completed")[1]?.["notes"]).toEqual(["A new tab was opened and is followed"]);
    },
    TO,
  );

  test(
    "[WA7] dialogs are answered and reported",
    async () => {
      const ran = await steps(at("/dialog"), { action: "click", target: button("Ask") }, says("true"));
      expectDone(ran);
      expect(ran.of("browser:action_completed")[1]?.["notes"]).toEqual([
        'A dialog (confirm) said "Really?" and was accepted',
      ]);
    },
    TO,
  );

  test(
    "[BR6] a popup that closes itself is no lost browser: the task goes on in its opener, and nothing is counted",
    async () => {
      const ran = await steps(
        at("/popup"),
        { action: "click", target: button("Open") },
        { action: "click", target: button("Close me") },
        says("Still here"),
      );
      expectDone(ran);
      expect(ran.types()).not.toContain("browser:disconnected");
      expect(ran.of("browser:action_completed")[2]?.["notes"]).toContain(
        "The tab closed; its opener is the current one",
      );
    },
    TO,
  );

  test(
    "[WA8] what an action causes is waited for: network and DOM, never longer than a second",
    async () => {
      const looking = scriptedBrain({
        url: `${site.url}/late`,
        actions: [{ action: "click", target: button("Load") }],
      });
      expectDone(await run({ brain: looking }));
      // Fetched 250 ms after the click, and in the very next snapshot.
      expect(looking.situations[1]?.sight?.tree).toContain("Loaded");
      const busy = await steps(at("/busy"), { action: "click", target: button("Run") }, at("/"));
      expectDone(busy);
      expect(Number(busy.of("browser:action_completed")[1]?.["tookMs"])).toBeGreaterThanOrEqual(1_000);
      expect(Number(busy.of("browser:action_completed")[1]?.["tookMs"])).toBeLessThan(9_000);
    },
    TO,
  );
});

describe("a brain that looks", () => {
  test(
    "[WA7] refs come from the snapshot; a stale one gets an error that says so, and a fresh snapshot",
    async () => {
      const OLD: BrainAction = { action: "click", target: { ref: "e3" } };
      const brain = scriptedBrain({
        url: `${site.url}/changing`,
        actions: [{ action: "click", target: { ref: "e2" } }, OLD, { action: "click", target: button("Other") }],
      });
      const ran = await run({ brain });
      expect(ran.code).toBe(0);
      expect(brain.situations[0]?.sight?.tree).toContain('button "Old" [ref=e3]');
      expect(ran.stats).toMatchObject({ totalErrors: 1 });
      expect(brain.situations[2]?.news.join()).toContain('Ref "e3" is not in the page any more');
      expect(brain.situations[2]?.sight?.tree).toContain('button "Other"');
    },
    TO,
  );

  test(
    "[BR6] other failures stay what they are: an action that fails is the agent's error, told to the brain",
    async () => {
      const brain = scriptedBrain({
        actions: [
          { action: "goto", url: "http://127.0.0.1:1/" },
          { action: "switchTab", index: 7 },
          { action: "upload", target: { css: "body" }, files: ["/etc/passwd"] },
          "unfit",
        ],
      });
      const ran = await run({ brain });
      expect(ran.code).toBe(0);
      expect(ran.stats).toMatchObject({ totalErrors: 4, reconnects: 0 });
      expect(brain.situations[1]?.news.join()).toMatch(/"goto" failed: .*ERR_/);
      expect(brain.situations[2]?.news.join()).toContain("There is no tab 7");
      expect(brain.situations[3]?.news.join()).toContain('"/etc/passwd" may not be uploaded');
    },
    TO,
  );

  test(
    "[WA5] the same action again and again: the fourth time warns the brain, the fifth ends with exit code 9",
    async () => {
      const again: BrainAction = { action: "click", target: button("Save") };
      const brain = scriptedBrain({ url: `${site.url}/`, actions: [again, again, again, again, again] });
      const ran = await run({ brain });
      expect(ran.code).toBe(9);
      expect(ran.of("task:completed")).toMatchObject([{ success: false, reason: "repetition" }]);
      expect(ran.of("browser:action_completed")).toHaveLength(4);
      expect(brain.situations[3]?.news.join()).not.toContain("four times");
      expect(brain.situations[4]?.news.join()).toContain("four times in a row");
    },
    TO,
  );

  test(
    "[WA5] [OU2] iterations and errors end with exit code 9, each with a reason of its own",
    async () => {
      const limits = { maxIterations: 2, maxConsecutiveErrors: 5, maxTotalErrors: 15 };
      const waits: BrainAction[] = [1, 2, 3].map((ms) => ({ action: "wait", ms }));
      const long = await run({ limits, brain: scriptedBrain({ actions: waits }) });
      const unfit = await run({ brain: scriptedBrain({ actions: Array(5).fill("unfit") }) });
      const mixed = Array.from({ length: 15 }, (_, index): (BrainAction | "unfit")[] => [
        "unfit",
        { action: "wait", ms: index + 1 },
      ]);
      const total = await run({ brain: scriptedBrain({ actions: mixed.flat() }) });
      expect([long, unfit, total].map(({ code }) => code)).toEqual([9, 9, 9]);
      const reasons = [long, unfit, total].map((ran) => ran.of("task:completed")[0]?.["reason"]);
      expect(reasons).toEqual(["max-iterations", "consecutive-errors", "total-errors"]);
    },
    TO,
  );

  test(
    "[WA6] validation sees task, criteria, answer, history and data; an answer that never passes fails the task",
    async () => {
      const wrong = { success: false, feedback: "Say it in French" };
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [{ action: "extract", name: "title", target: { role: "heading" } }],
        verdicts: [wrong, wrong, wrong],
      });
      const ran = await run({ brain });
      expect(ran.code).toBe(1);
      expect(ran.of("task:validated").map(({ success, attempt }) => [success, attempt])).toEqual([
        [false, 1],
        [false, 2],
        [false, 3],
      ]);
      expect(ran.of("task:completed")).toMatchObject([{ success: false, reason: "validation" }]);
      expect(brain.judged[0]).toMatchObject({
        task: "Say hello",
        successCriteria: "It says Hello",
        answer: "Hello",
        data: { title: "Form" },
      });
      expect(brain.judged[0]?.history.join()).toContain("extract");
      expect(brain.situations.at(-1)?.news.join()).toContain("Say it in French");
    },
    TO,
  );

  test(
    "[WA1] a start page that does not open is tried again, then the task fails with exit code 1",
    async () => {
      const ran = await run({ brain: scriptedBrain({ url: "http://127.0.0.1:1/", actions: [] }) });
      expect(ran.code).toBe(1);
      expect(ran.of("task:completed")).toMatchObject([{ reason: "start-url" }]);
    },
    TO,
  );

  test(
    "[BR6] a page that crashes is no lost browser: the brain is told, and goes on in a new page",
    async () => {
      const [only] = await stable.take(1);
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [
          { action: "wait", ms: 1_000 },
          { action: "goto", url: `${site.url}/tab` },
        ],
      });
      const ran = await runTask({
        endpoints: [only?.url ?? ""],
        brain,
        onEvent({ type }, count) {
          if (type === "browser:action_started" && count === 1) only?.killPages();
        },
      });
      expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
      expect(ran.types()).not.toContain("browser:disconnected");
      expect(brain.situations.flatMap(({ news }) => news).join()).toContain("The page crashed");
      expect(brain.situations.at(-1)?.sight?.tree).toContain("The new tab");
    },
    TO,
  );
});
