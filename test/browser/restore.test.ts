// What if the state cannot be put into the new browser, or its start page does not open? The task goes on all the same.
import { afterAll, afterEach, expect, test } from "bun:test";
import type { BrainAction } from "../../src/protocol/web-task.ts";
import { forever, type ScriptedBrain, scriptedBrain } from "./support/brain.ts";
import { type CdpProxy, type Command, type Meddle, proxyCdp } from "./support/cdp-proxy.ts";
import { type Chromium, chromiumStable } from "./support/chromium.ts";
import { runTask, type TaskEvent, type TaskOptions } from "./support/run-task.ts";
import { startSite } from "./support/site.ts";
import "./support/two-at-once.ts";

const stable = chromiumStable();
const site = startSite();
const proxies: CdpProxy[] = [];
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.end();
});
afterAll(async () => {
  site.end();
  await stable.end();
});
const TO = 60_000;
const FORM: BrainAction = { action: "goto", url: `${site.url}/` };
const LOGIN: BrainAction = { action: "goto", url: `${site.url}/login` };
const OTHER_LOGIN: BrainAction = { action: "goto", url: `${site.other}/login` };

/** Lost after all of `actions`, which is when all of their state is saved. */
const losing = (first: Chromium | undefined, url: string, ...actions: BrainAction[]): ScriptedBrain =>
  scriptedBrain({
    url,
    actions,
    async onNext(count) {
      if (count !== actions.length + 1) return;
      first?.kill();
      await forever();
    },
  });

const through = (chromium: Chromium | undefined, meddle: Meddle): string => {
  if (!chromium) throw new Error("No Chromium");
  const proxy = proxyCdp(chromium, meddle);
  proxies.push(proxy);
  return proxy.url;
};

/** Also one of several. */
const setsCookie = (name: string, { method, params }: Command): boolean =>
  method === "Storage.setCookies" && JSON.stringify(params).includes(`"${name}"`);
const opens = (url: string, { method, params }: Command): boolean =>
  method === "Page.navigate" && params?.["url"] === url;
const REFUSED = { error: "Invalid cookie fields" };

async function finished(options: TaskOptions & { brain: ScriptedBrain }, after: number) {
  const ran = await runTask(options);
  expect({ code: ran.code, thrown: ran.thrown }).toEqual({ code: 0, thrown: undefined });
  expect(ran.stats).toMatchObject({ totalErrors: 0, reconnects: 1 });
  const situation = options.brain.situations[after];
  const [reconnected] = ran.of("browser:reconnected");
  return { ran, tree: situation?.sight?.tree ?? "", news: situation?.news.join("\n") ?? "", reconnected };
}

test(
  "[WB1] [WB2] a cookie that the new browser refuses does not take the others along; brain and events say which",
  async () => {
    const [first, second] = await stable.take(2);
    const endpoints = [
      first?.url ?? "",
      through(second, (command) => (setsCookie("visit", command) ? REFUSED : undefined)),
    ];
    const brain = losing(first, `${site.url}/who`, FORM, LOGIN);
    const { tree, news, reconnected } = await finished({ endpoints, brain }, 3);
    expect(tree).toContain("Cookie: user=ada");
    expect(tree).toContain("Storage: local session");
    expect(reconnected).toMatchObject({
      startingUrl: `${site.url}/who`,
      endpointIndex: 1,
      total: 2,
      notRestored: [expect.stringMatching(/^the cookie "visit" of 127\.0\.0\.1: .*Invalid cookie fields/)],
    });
    expect(news).toContain('Not restored, so you may have to log in again:\nthe cookie "visit" of 127.0.0.1');
  },
  TO,
);

test(
  "[WB1] [BR7] cookies and a site that never get an answer are given up: the other site still has its storage",
  async () => {
    const [first, second] = await stable.take(2);
    const endpoints = [
      first?.url ?? "",
      through(second, (command) =>
        command.method === "Storage.setCookies" || opens(`${site.other}/`, command) ? "mute" : undefined,
      ),
    ];
    const brain = losing(first, `${site.url}/who`, OTHER_LOGIN, LOGIN);
    const { tree, news, reconnected } = await finished({ endpoints, brain }, 3);
    expect(tree).toContain("Cookie: none");
    expect(tree).toContain("Storage: local session");
    expect(reconnected?.["notRestored"]).toEqual([
      expect.stringMatching(/^the cookies: .* did not finish within 3000 ms/),
      expect.stringContaining(`the storage of ${site.other}: `),
    ]);
    expect(news).toContain(`the storage of ${site.other}`);
  },
  TO,
);

for (const [name, way] of [
  ["kill -9", "kill"],
  ["SIGSTOP", "freeze"],
] as const) {
  test(
    `[WA4] [WB1] ${name} while the state is restored is a loss like any other: the next browser gets all of it`,
    async () => {
      const [first, second, third] = await stable.take(3);
      const dying = through(second, (command) => {
        if (!opens(`${site.url}/`, command)) return undefined;
        second?.[way]();
        return "mute";
      });
      const endpoints = [first?.url ?? "", dying, third?.url ?? ""];
      const brain = losing(first, `${site.url}/who`, LOGIN);
      const { ran, tree, news, reconnected } = await finished({ endpoints, brain }, 2);
      expect(tree).toContain("Cookie: user=ada");
      expect(tree).toContain("Storage: local session");
      expect(reconnected).toEqual({ startingUrl: `${site.url}/who`, endpointIndex: 2, total: 3 });
      expect(news).not.toContain("Not restored");
      expect(ran.of("browser:disconnected")).toMatchObject([{ endpointIndex: 0 }, { endpointIndex: 1 }]);
      // goto, lost, lost, goto, done
      expect(ran.stats).toMatchObject({ iterations: 5 });
    },
    TO,
  );
}

/** The start page of the new browser. */
const failing =
  (times: number) =>
  ({ type }: TaskEvent): void => {
    if (type === "browser:disconnected") site.fail("/tab", times);
  };

test(
  "[WA1] [WA2] a start page that fails once after the reconnect is tried again, in the same browser",
  async () => {
    const all = await stable.take(2);
    const brain = losing(all[0], `${site.url}/tab`, LOGIN);
    site.visits.length = 0;
    const { ran, tree, reconnected } = await finished(
      { endpoints: all.map(({ url }) => url), brain, onEvent: failing(1) },
      2,
    );
    expect(tree).toContain("The new tab");
    expect(reconnected).toEqual({ startingUrl: `${site.url}/tab`, endpointIndex: 1, total: 2 });
    expect(ran.stats).toMatchObject({ iterations: 4, endpointIndex: 1 });
    // At the beginning, in vain, and again.
    expect(site.visits.filter((path) => path === "/tab")).toHaveLength(3);
  },
  TO,
);

test(
  "[WA1] a start page that does not open any more after the reconnect ends the task, with its own reason",
  async () => {
    const all = await stable.take(2);
    const brain = losing(all[0], `${site.url}/tab`, LOGIN);
    site.visits.length = 0;
    const ran = await runTask({ endpoints: all.map(({ url }) => url), brain, onEvent: failing(3) });
    expect(ran.of("task:completed")).toMatchObject([{ success: false, reason: "start-url" }]);
    expect(ran.stats).toMatchObject({ totalErrors: 0, reconnects: 0 });
    expect(site.visits.filter((path) => path === "/tab")).toHaveLength(4);
  },
  TO,
);
