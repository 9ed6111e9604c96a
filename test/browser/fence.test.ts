// Does a browser stay where it may be? Every way out of a page, redirects included, is tried against a real site.
import { afterAll, expect, test } from "bun:test";
import { createStepsBrain } from "../../src/browser/steps-brain.ts";
import { scriptedBrain } from "./support/brain.ts";
import { chromiumStable } from "./support/chromium.ts";
import { runTask } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";
import "./support/two-at-once.ts";

const stable = chromiumStable();
const site = startSite();
afterAll(async () => {
  site.end();
  await stable.end();
});
const TO = 60_000;
const LOGGED = ["?fetch-blocked", "?redirect-blocked", "?ws-blocked", "?worker-done"];

test(
  "[OU4] --allow-domain holds at network level: requests, redirects, frames, workers and WebSockets; service workers are blocked",
  async () => {
    const [only] = await stable.take(1);
    site.visits.length = 0;
    site.strayed.length = 0;
    const brain = scriptedBrain({
      url: `${site.url}/stray`,
      actions: [{ action: "wait", ms: 200 }],
      async onNext(count) {
        if (count === 2) while (!LOGGED.every((each) => site.visits.includes(each))) await Bun.sleep(20);
      },
    });
    const ran = await runTask({ endpoints: [only?.url ?? ""], allowedDomains: ["127.0.0.1"], brain });
    expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
    expect(site.strayed).toEqual([]);
    expect(site.visits).toContain("/away");
    expect(site.visits).not.toContain("/worker.js");
  },
  TO,
);

test(
  "[OU4] without --allow-domain the same page does get out: the test can fail",
  async () => {
    const [only] = await stable.take(1);
    site.visits.length = 0;
    site.strayed.length = 0;
    const brain = scriptedBrain({
      url: `${site.url}/stray`,
      actions: [{ action: "wait", ms: 200 }],
      async onNext(count) {
        if (count === 2) while (!site.visits.includes("?ws-ok")) await Bun.sleep(20);
      },
    });
    await runTask({ endpoints: [only?.url ?? ""], brain });
    expect(site.visits).toContain("/worker.js");
    for (const way of [
      "/img",
      "/iframe",
      "/iframe-redirect",
      "/img-redirect",
      "/fetch",
      "/fetch-redirect",
      "/socket",
      "/worker-fetch",
    ])
      expect(site.strayed).toContain(way);
  },
  TO,
);

test(
  "[OU4] a navigation out is refused with words, a redirect out fails, also in a browser of our own",
  async () => {
    site.strayed.length = 0;
    const [only] = await stable.take(1);
    for (const endpoints of [[only?.url ?? ""], undefined]) {
      const brain = scriptedBrain({
        url: `${site.url}/`,
        actions: [
          { action: "goto", url: `${site.other}/tab` },
          { action: "goto", url: `${site.url}/away?to=/tab` },
        ],
      });
      const ran = await runTask({ ...(endpoints ? { endpoints } : {}), allowedDomains: ["127.0.0.1"], brain });
      expect(ran.code).toBe(0);
      expect(ran.stats).toMatchObject({ totalErrors: 2 });
      expect(brain.situations[1]?.news.join()).toContain('"localhost" is not allowed; allow it with --allow-domain');
      expect(brain.situations[2]?.news.join()).toMatch(/ERR_BLOCKED_BY_CLIENT|ERR_NAME_NOT_RESOLVED/);
    }
    expect(site.strayed).toEqual([]);
  },
  TO,
);

test(
  "[OU4] state that is carried to a fenced browser is put there too",
  async () => {
    const all = await stable.take(2);
    const ran = await runTask({
      endpoints: all.map(({ url }) => url),
      allowedDomains: ["127.0.0.1"],
      carry: true,
      brain: createStepsBrain({
        steps: [
          { action: "goto", url: `${site.url}/login` },
          { action: "goto", url: `${site.url}/who` },
          { action: "expect", target: { text: "Cookie:" }, text: "user=ada" },
          { action: "expect", target: { css: "#s" }, text: "local session" },
        ],
      }),
      onEvent({ type }, count) {
        if (type === "browser:action_started" && count === 3) all[0]?.kill();
      },
    });
    expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
  },
  TO,
);
