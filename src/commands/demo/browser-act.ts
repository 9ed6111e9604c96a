// How does a web task fare in the demo? Its browser is killed in the middle, and the next one finishes it.
import { createBrowsers } from "../../platform/browser-process.ts";
import type { BrowserProcess } from "../../platform/browser-world.ts";
import type { Context } from "../context.ts";
import type { Stage } from "./stage.ts";

export interface BrowserFigures {
  killed: number;
  /** From the signal to a page in the next browser. */
  readyMs: number;
  steps: number;
  success: boolean;
}

const STEPS = 6;
const numbers = Array.from({ length: STEPS }, (_, index) => index + 1);
const buttons = numbers.map((number) => `<button onclick="said.textContent+=this.textContent">${number}</button>`);
const PAGE = `data:text/html,${encodeURIComponent(`<title>The demo's page</title><h1 id=said></h1>${buttons.join("")}`)}`;

const click = (number: number) => ({ action: "click", target: { role: "button", name: String(number) } });
const task = {
  task: "Press six buttons, one after the other",
  startUrl: PAGE,
  steps: [
    ...numbers.slice(0, STEPS / 2).map(click),
    // It is killed here: a page answers faster than anybody can pull the plug.
    { action: "wait", ms: 1_000 },
    ...numbers.slice(STEPS / 2).map(click),
    { action: "expect", target: { css: "h1" }, text: numbers.join("") },
  ],
};

/** Undefined: no Chromium or Chrome is found here. */
export async function playBrowser(
  context: Context,
  stage: Stage,
  say: (text: string) => void,
): Promise<BrowserFigures | undefined> {
  const { clock } = context.world;
  const browsers = createBrowsers(`${stage.stateDirectory}/browsers`, context.env);
  const command = browsers.find();
  if (command === undefined) return undefined;
  const launched: BrowserProcess[] = [];
  try {
    context.signal.throwIfAborted();
    for (const _ of [1, 2]) launched.push(browsers.launch(command, []));
    const urls = await Promise.all(launched.map(({ listening }) => listening));
    if (urls.some((url) => url === undefined)) return undefined;
    say(`${launched.map(({ pid }) => pid).join(" and ")} are there; a task of ${task.steps.length} steps begins`);
    const file = `${stage.env["XDG_STATE_HOME"]}/steps.json`;
    await context.writeFile(file, Buffer.from(JSON.stringify(task)));
    const runner = stage.start("The web task", [
      "browse",
      "--steps",
      file,
      ...urls.flatMap((url) => ["--cdp", url ?? ""]),
    ]);
    // The first to answer is used, whichever that is.
    const { endpointIndex } = await runner.event("cdp:endpoint_connected");
    const used = launched[Number(endpointIndex)];
    if (!used) throw new Error(`There is no browser ${endpointIndex}`);
    for (let step = 0; step < STEPS / 2; step++) await runner.event("browser:action_completed");
    const since = clock.elapsed();
    context.killProcess(used.pid);
    await runner.event("browser:reconnected");
    const readyMs = clock.elapsed() - since;
    const { success } = await runner.event("task:completed");
    return { killed: used.pid, readyMs, steps: task.steps.length, success: success === true };
  } finally {
    await Promise.all(launched.map((browser) => browser.end()));
  }
}
