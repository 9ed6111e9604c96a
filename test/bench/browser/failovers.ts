// How long is a task without a browser? From the kill to the start page in the next one, beside a plain reconnect.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPlaywright } from "../../../src/browser/playwright.ts";
import { type Chromium, startChromium } from "../../browser/support/chromium.ts";
import { type Site, startSite } from "../../browser/support/site.ts";
import { median } from "../support/statistics.ts";
import { atMostMs, atMostTimes, ms, type Row, told } from "../support/table.ts";
import type { Yard } from "../support/yard.ts";

const STANDBY_GOAL = 0.4;
const FROZEN_GOAL_MS = 3_500;

/** What anybody would write: connect again when told, open the page again. */
async function plain(first: Chromium, second: Chromium, site: Site): Promise<number> {
  const { chromium } = await loadPlaywright();
  const browser = await chromium.connectOverCDP(first.url);
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  const lost = Promise.withResolvers<void>();
  browser.on("disconnected", () => lost.resolve());
  const since = performance.now();
  first.kill();
  await lost.promise;
  const next = await chromium.connectOverCDP(second.url);
  const again = await (await next.newContext()).newPage();
  await again.goto(site.url);
  const took = performance.now() - since;
  await next.close();
  return took;
}

interface Setting {
  yard: Yard;
  binary: string;
  steps: string;
}

async function ours(
  { yard, binary, steps }: Setting,
  all: readonly [Chromium, Chromium],
  standby: boolean,
  end: (chromium: Chromium) => void,
): Promise<number> {
  const before = await Promise.all(all.map(async (each) => (await each.pages()).length));
  const flag = standby ? "--standby" : "--no-standby";
  const words = ["browse", steps, "--json", flag, ...all.flatMap(({ url }) => ["--cdp", url])];
  const task = yard.start([binary, ...words], { leaves: true });
  const event = (type: string) => task.message((message) => message["type"] === type, type);
  // The first to answer, whichever that is.
  const { data } = (await event("cdp:endpoint_connected")) as { data?: { endpointIndex: 0 | 1 } };
  const index = data?.endpointIndex ?? 0;
  const [first, second] = [all[index], all[1 - index] ?? all[1]];
  await event("browser:action_started");
  if (standby) {
    while ((await second.pages()).length === before[1 - index]) await Bun.sleep(50);
    // Its page is there; that it is told of takes a moment more.
    await Bun.sleep(500);
  }
  const since = performance.now();
  end(first);
  await event("browser:reconnected");
  const took = performance.now() - since;
  task.signal("SIGINT");
  await task.exited;
  return took;
}

export async function failovers(
  yard: Yard,
  binary: string,
  { deaths, freezes }: { deaths: number; freezes: number },
): Promise<Row[]> {
  const site = startSite();
  const steps = join(yard.directory, "steps.json");
  writeFileSync(steps, JSON.stringify({ startUrl: site.url, steps: [{ action: "wait", ms: 60_000 }] }));
  const setting = { yard, binary, steps };
  const bare: number[] = [];
  const cold: number[] = [];
  const warm: number[] = [];
  const frozen: number[] = [];
  const withTwo = async (measure: (all: readonly [Chromium, Chromium]) => Promise<number>): Promise<number> => {
    const all = [await startChromium(), await startChromium()] as const;
    try {
      return await measure(all);
    } finally {
      await Promise.all(all.map((each) => each.end()));
    }
  };
  try {
    for (let round = 0; round < deaths; round++) {
      bare.push(await withTwo(([first, second]) => plain(first, second, site)));
      cold.push(await withTwo((all) => ours(setting, all, false, (chromium) => chromium.kill())));
      warm.push(await withTwo((all) => ours(setting, all, true, (chromium) => chromium.kill())));
    }
    for (let round = 0; round < freezes; round++)
      frozen.push(await withTwo((all) => ours(setting, all, true, (chromium) => chromium.freeze())));
  } finally {
    site.end();
  }
  const [plainMs, coldMs, warmMs] = [median(bare), median(cold), median(warm)];
  return [
    atMostTimes(
      "kill -9 to page ready, standby, to plain reconnect",
      STANDBY_GOAL,
      warmMs / plainMs,
      `plain ${ms(plainMs)}, ours ${ms(warmMs)}`,
    ),
    told(
      "kill -9 to page ready, no standby",
      `${(coldMs / plainMs).toFixed(2)} ×`,
      `plain ${ms(plainMs)}, ours ${ms(coldMs)}`,
    ),
    atMostMs("SIGSTOP to page ready, standby", FROZEN_GOAL_MS, median(frozen), `of ${frozen.length}`),
  ];
}
