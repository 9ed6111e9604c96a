// What goes along to the next browser, and who stands ready? Cookies, storage, data, and a standby.
import { afterAll, describe, expect, test } from "bun:test";
import { createStepsBrain } from "../../src/browser/steps-brain.ts";
import type { BrainAction, Step } from "../../src/protocol/web-task.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { forever, scriptedBrain } from "./support/brain.ts";
import { type Chromium, chromiumStable } from "./support/chromium.ts";
import { runTask, type TaskEvent } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";
import { watchStandby } from "./support/standby.ts";
import "./support/two-at-once.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});
const TO = 60_000;
const LOGIN: BrainAction = { action: "goto", url: `${site.url}/login` };
const WHO: BrainAction = { action: "goto", url: `${site.url}/who` };
const KEEP: BrainAction = { action: "extract", name: "heading", target: { role: "heading" } };
const killAt =
  (chromium: Chromium | undefined, type: string, at: number) =>
  (event: TaskEvent, count: number): void => {
    if (event.type === type && count === at) chromium?.kill();
  };

describe("state", () => {
  test(
    "[WB1] [WB2] cookies and storage are in the new browser before the start URL, the brain is told, data is kept",
    async () => {
      const all = await stable.take(2);
      const brain = scriptedBrain({
        url: `${site.url}/who`,
        actions: [LOGIN, KEEP],
        async onNext(count) {
          if (count !== 3) return;
          all[0]?.kill();
          await forever();
        },
      });
      const ran = await runTask({ endpoints: all.map(({ url }) => url), brain });
      expect(ran.code).toBe(0);
      expect(brain.situations[0]?.sight?.tree).toContain("Cookie: none");
      const after = brain.situations[3];
      expect(after?.sight?.url).toBe(`${site.url}/who`);
      expect(after?.sight?.tree).toContain("Cookie: user=ada");
      expect(after?.sight?.tree).toContain("Storage: local session");
      const news = after?.news.join("\n") ?? "";
      expect(news).toContain("this is a new browser");
      expect(news).toContain(`${site.url}/login`);
      expect(news).toContain("heading: Logged in");
      expect(ran.result?.data).toEqual({ heading: "Logged in" });
    },
    TO,
  );

  test(
    "[WB1] --fresh: the new browser is blank, and so is what the brain is told",
    async () => {
      const all = await stable.take(2);
      const brain = scriptedBrain({
        url: `${site.url}/who`,
        actions: [LOGIN],
        async onNext(count) {
          if (count !== 2) return;
          all[0]?.kill();
          await forever();
        },
      });
      await runTask({ endpoints: all.map(({ url }) => url), brain, carry: false });
      expect(brain.situations[2]?.sight?.tree).toContain("Cookie: none");
      expect(brain.situations[2]?.sight?.tree).toContain("Storage: null null");
      expect(brain.situations[2]?.news.join()).toContain("blank");
    },
    TO,
  );

  test(
    "[WB1] [BN1] a steps file runs again from its first step: blank by default, with what it had under --carry",
    async () => {
      const steps: Step[] = [
        { action: "goto", url: `${site.url}/who` },
        { action: "extract", name: "before", target: { text: "Cookie:" } },
        LOGIN as Step,
        WHO as Step,
        { action: "extract", name: "after", target: { text: "Cookie:" } },
      ];
      for (const [carry, before] of [
        [false, "Cookie: none"],
        [true, "Cookie: user=ada"],
      ] as const) {
        const all = await stable.take(2);
        const ran = await runTask({
          endpoints: all.map(({ url }) => url),
          brain: createStepsBrain({ steps }),
          carry,
          onEvent: killAt(all[0], "browser:action_started", 5),
        });
        expect({ code: ran.code, data: ran.result?.data }).toEqual({
          code: 0,
          data: { before, after: "Cookie: user=ada" },
        });
        // Four steps, the lost one, all five again and `done`.
        expect(ran.stats).toMatchObject({ iterations: 11, totalErrors: 0, reconnects: 1, endpointIndex: 1 });
      }
    },
    TO,
  );
});

describe("standby", () => {
  const watch = async (count: number) => await watchStandby(await stable.take(count));

  test(
    "[BR4] [BR8] the next browser is connected with a page before it is needed, takes over, and the one after it stands by then",
    async () => {
      const watched = await watch(3);
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [],
        async onNext(count, signal) {
          if (count > 2) return;
          await watched.standby(signal);
          watched.active().kill();
          await forever();
        },
      });
      const ran = await runTask({ ...watched, brain, standby: true });
      expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
      const used = ran.of("cdp:endpoint_connected").map(({ endpointIndex }) => endpointIndex);
      expect(new Set(used).size).toBe(3);
      expect(ran.stats).toMatchObject({ reconnects: 2, totalErrors: 0 });
      // Ours is closed, theirs is not.
      expect(watched.all.filter(({ running }) => running)).toHaveLength(1);
      expect(await watched.pagesLeft()).toEqual([0, 0, 0]);
    },
    TO,
  );

  test(
    "[BR4] a standby that dies while nobody needs it is replaced, and the task does not notice",
    async () => {
      const watched = await watch(3);
      let third: Chromium | undefined;
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [],
        async onNext(count, signal) {
          if (count !== 1) return;
          (await watched.standby(signal)).kill();
          third = await watched.standby(signal);
          watched.active().kill();
          await forever();
        },
      });
      const ran = await runTask({ ...watched, brain, standby: true });
      expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
      const index = third ? watched.all.indexOf(third) : -1;
      expect(ran.of("browser:reconnected")).toMatchObject([{ endpointIndex: index, total: 3 }]);
    },
    TO,
  );
});

describe("steps of a brain", () => {
  test(
    "[BN4] what a brain did is a steps file that runs again without it; secrets are in it by name only",
    async () => {
      using folder = createTempDir();
      const [only] = await stable.take(1);
      const endpoints = [only?.url ?? ""];
      const secrets = new Map([["WHO", "c4nary-Ada"]]);
      const fill = { action: "fill" as const, target: { ref: "" }, value: "{{WHO}}" };
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [
          fill,
          { action: "click", target: { role: "button", name: "Save" } },
          { action: "extract", name: "out", target: { css: "#out" } },
        ],
        onNext() {
          fill.target.ref ||= /textbox "Name".*\[ref=(e\d+)\]/.exec(brain.situations[0]?.sight?.tree ?? "")?.[1] ?? "";
        },
      });
      const ran = await runTask({ endpoints, brain, secrets, directory: folder.path });
      expect(ran.code).toBe(0);
      const path = String(ran.of("task:completed")[0]?.["stepsFile"]);
      const file = await Bun.file(path).json();
      expect(file.startUrl).toBe(`${site.url}/`);
      expect(await Bun.file(path).text()).not.toContain("c4nary");
      const again = await runTask({ endpoints, brain: createStepsBrain(file), startUrl: file.startUrl, secrets });
      expect({ code: again.code, data: again.result?.data }).toEqual({ code: 0, data: { out: "Hello {{WHO}}" } });
    },
    TO,
  );
});
