// What does a step cost? The same actions on a static page, by a steps file and by bare Playwright.
import { loadPlaywright } from "../../../src/browser/playwright.ts";
import { createStepsBrain } from "../../../src/browser/steps-brain.ts";
import type { Step } from "../../../src/protocol/web-task.ts";
import { type Chromium, startChromium } from "../../browser/support/chromium.ts";
import { runTask } from "../../browser/support/run-task.ts";
import { type Site, startSite } from "../../browser/support/site.ts";
import { inTurns } from "../support/in-turns.ts";
import { atMostTimes, ms, type Row } from "../support/table.ts";

const GOAL = 1.5;

async function bareSteps(chromium: Chromium, site: Site, steps: number): Promise<number> {
  const { chromium: library } = await loadPlaywright();
  const browser = await library.connectOverCDP(chromium.url);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.url);
  const since = performance.now();
  for (let step = 0; step < steps; step++) {
    await page.getByLabel("Name").fill(`Ada ${step}`);
    await page.getByRole("button", { name: "Save" }).click();
  }
  const took = (performance.now() - since) / (steps * 2);
  await context.close();
  await browser.close();
  return took;
}

async function ourSteps(chromium: Chromium, site: Site, steps: number): Promise<number> {
  const list = Array.from({ length: steps }, (_, step): Step[] => [
    { action: "fill", target: { label: "Name" }, value: `Ada ${step}` },
    { action: "click", target: { role: "button", name: "Save" } },
  ]).flat();
  let since = 0;
  let until = 0;
  const limits = { maxIterations: 1_000, maxConsecutiveErrors: 5, maxTotalErrors: 15 };
  const ran = await runTask({
    endpoints: [chromium.url],
    startUrl: site.url,
    carry: false,
    limits,
    brain: createStepsBrain({ steps: list }),
    onEvent({ type }) {
      if (type === "browser:action_started") since ||= performance.now();
      if (type === "browser:action_completed") until = performance.now();
    },
  });
  if (ran.code !== 0) throw ran.thrown;
  return (until - since) / list.length;
}

export async function stepping({ rounds, steps }: { rounds: number; steps: number }): Promise<Row[]> {
  const site = startSite();
  const chromium = await startChromium();
  try {
    const { bare, ours, ratio } = await inTurns(
      rounds,
      () => bareSteps(chromium, site, steps),
      () => ourSteps(chromium, site, steps),
    );
    return [
      atMostTimes("Time per step, static page, to bare Playwright", GOAL, ratio, `bare ${ms(bare)}, ours ${ms(ours)}`),
    ];
  } finally {
    site.end();
    await chromium.end();
  }
}
