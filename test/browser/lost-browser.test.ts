// Does a task finish although its browser dies or freezes? Real Chromium, in every place where it can happen.
import { afterAll, describe, expect, test } from "bun:test";
import type { BrainAction } from "../../src/protocol/web-task.ts";
import { createTempDir } from "../support/temp-dir.ts";
import { forever, scriptedBrain } from "./support/brain.ts";
import { proxyCdp } from "./support/cdp-proxy.ts";
import { chromiumStable } from "./support/chromium.ts";
import { expectFinished, expectPictures, LOSSES, type Loss, outlineOf } from "./support/losses.ts";
import { runTask } from "./support/run-task.ts";
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
const FILL: BrainAction = { action: "fill", target: { label: "Name" }, value: "Ada" };
const SAVE: BrainAction = { action: "click", target: { role: "button", name: "Save" } };
const WAYS = { "kill -9": "kill", SIGSTOP: "freeze" } as const;
const WITH_STANDBY = ["during an action", "while the brain is thinking", "during recovery"];
const STANDBY = [
  { name: "without a standby", standby: false, losses: LOSSES },
  // As it is on loopback unless somebody says otherwise.
  { name: "with a standby", standby: undefined, losses: LOSSES.filter(({ where }) => WITH_STANDBY.includes(where)) },
];

async function loseAt(wanted: Loss, way: "kill" | "freeze", standby: boolean | undefined): Promise<void> {
  using folder = createTempDir();
  const watched = await watchStandby(await stable.take(wanted.lost + 1));
  const end = (): void => watched.active()[way]();
  const { onNext, ...script } = wanted.script?.(end) ?? {};
  const brain = scriptedBrain({
    url: `${site.url}/`,
    actions: [FILL, SAVE],
    ...script,
    async onNext(count, signal) {
      if (count === 2 && standby !== false) await watched.standby(signal);
      await onNext?.(count, signal);
    },
  });
  const onEvent = wanted.onEvent?.(end);
  const meddle = wanted.meddle?.(end);
  const proxies = meddle ? watched.all.map((each) => proxyCdp(each, meddle)) : [];
  wanted.prepare?.(end, site);
  const out = wanted.pictures ? `${folder.path}/out` : undefined;
  const ran = await runTask({
    endpoints: meddle ? proxies.map(({ url }) => url) : watched.endpoints,
    brain,
    standby,
    out,
    onEvent(event, count) {
      watched.onEvent(event);
      onEvent?.(event, count);
    },
  });
  for (const proxy of proxies) proxy.end();
  expectFinished(ran, brain, wanted, site);
  if (standby === false) expect(ran.stats).toMatchObject({ endpointIndex: wanted.lost });
  if (out) expectPictures(out, wanted.pictures ?? []);
}

for (const [name, way] of Object.entries(WAYS)) {
  for (const { name: mode, standby, losses } of STANDBY) {
    describe(`${name} ${mode}`, () => {
      for (const wanted of losses) {
        test(
          `[BR5] [WA2] [WA3] [WA4] [WB1] ${name} ${wanted.where}, ${mode}: the task goes on in the next browser, nothing counted, plan and cookies kept`,
          () => loseAt(wanted, way, standby),
          TO,
        );
      }
    });
  }
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
    expect(outlineOf(ran)).toEqual([
      "cdp:endpoint_connected",
      "task:planned",
      "browser:disconnected",
      "task:completed",
    ]);
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
