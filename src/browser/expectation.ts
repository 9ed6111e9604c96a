// Does the page hold what a steps file demands? Looked at again until it does or the time is over.
import type { Clock } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { Step } from "../protocol/web-task.ts";
import { describe, locate } from "./locate.ts";
import type { Page } from "./playwright.ts";

export type Expectation = Extract<Step, { action: "expect" }>;

const EXPECT_MS = 5_000;
const LOOK_MS = 50;

const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Why it does not hold; undefined when it does. */
async function whyNot(
  page: Page,
  { target, text, value, gone, count, url, title }: Expectation,
): Promise<string | undefined> {
  if (url !== undefined && !page.url().includes(url))
    return `the address is ${shown(page.url())}, without ${shown(url)}`;
  if (title !== undefined) {
    const found = await page.title();
    if (!found.includes(title)) return `the title is ${shown(found)}, without ${shown(title)}`;
  }
  const place = await locate(page, target ?? { css: "body" });
  const what = target ? `the element with ${describe(target)}` : "the page";
  if (count !== undefined) {
    const found = await place.count();
    return found === count ? undefined : `${what} is there ${found} times, not ${count}`;
  }
  if (target) {
    const visible = await place.first().isVisible();
    if (gone) return visible ? `${what} is still shown` : undefined;
    if (!visible) return `${what} is not shown`;
  }
  if (value !== undefined) {
    const found = await place.first().inputValue();
    if (found !== value) return `${what} holds ${shown(found)}, not ${shown(value)}`;
  }
  if (text !== undefined) {
    // biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is hidden
    const found = await place.first().innerText();
    if (!found.includes(text)) return `${what} does not say ${shown(text)} but ${shown(found)}`;
  }
  return undefined;
}

export async function expectOn(
  current: () => Page,
  expectation: Expectation,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = clock.elapsed() + (expectation.ms ?? EXPECT_MS);
  for (;;) {
    const why = await whyNot(current(), expectation).catch((thrown) => messageOf(thrown));
    if (why === undefined || signal.aborted || clock.elapsed() >= deadline) return why;
    await clock.sleep(LOOK_MS, signal);
  }
}
