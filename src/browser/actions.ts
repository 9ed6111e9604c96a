// How is each action done in a page? One entry per action; what it tells goes to the brain, what it keeps to the result.
import type { Allows } from "../core/allowed-domains.ts";
import type { Clock } from "../platform/world.ts";
import { BrowserActionException } from "../protocol/browser-fault.ts";
import type { PageAction, Target } from "../protocol/web-task.ts";
import { expectOn } from "./expectation.ts";
import type { Link } from "./link.ts";
import { locate } from "./locate.ts";
import type { Locator, Page } from "./playwright.ts";

export interface Done {
  says?: string;
  /** Kept under this name, whatever becomes of the browser. */
  data?: { name: string; value: string };
  picture?: { name: string | undefined; png: Uint8Array };
  /** What a steps file demanded, and is not so. */
  unmet?: string;
}

export interface Hands {
  link: Link;
  clock: Clock;
  allows: Allows;
  /** Puts the values of secrets in place of their names. */
  reveal(text: string): string;
  revealInUrl(url: string): string;
  /** The path a file may be uploaded from, or undefined. */
  uploadable(path: string): string | undefined;
  page(): Promise<Page>;
}

export const ACTION_MS = 10_000;
export const GOTO_MS = 30_000;
const MOST_TEXT = 20_000;
const LIMIT = { timeout: ACTION_MS } as const;

export async function goto({ page, allows }: Pick<Hands, "page" | "allows">, url: string): Promise<void> {
  if (!URL.canParse(url)) throw new BrowserActionException(`"${url}" is no address; give a whole one, with https://`);
  const { protocol, hostname } = new URL(url);
  if (!["http:", "https:", "about:", "data:"].includes(protocol))
    throw new BrowserActionException(`"${url}" cannot be opened; give an address with http:// or https://`);
  if (!allows(url)) throw new BrowserActionException(`"${hostname}" is not allowed; allow it with --allow-domain`);
  const response = await (await page()).goto(url, { timeout: GOTO_MS, waitUntil: "domcontentloaded" });
  const status = response?.status() ?? 200;
  if (status >= 500) throw new BrowserActionException(`"${url}" answered with status ${status}`);
}

const atPlace =
  (act: (place: Locator, hands: Hands) => Promise<unknown>) =>
  async (hands: Hands, { target }: { target: Target }): Promise<Done> => {
    await act(await locate(await hands.page(), target), hands);
    return {};
  };

type Perform = {
  [Name in PageAction["action"]]: (hands: Hands, action: Extract<PageAction, { action: Name }>) => Promise<Done>;
};

const SCROLLS = { up: -600, down: 600, top: -1e7, bottom: 1e7 } as const;

const PERFORM: Perform = {
  async goto(hands, { url }) {
    await goto(hands, hands.revealInUrl(url));
    return {};
  },
  async back({ page }) {
    // From the browser's cache of pages nothing more is ever told; settling does the rest.
    await (await page()).goBack({ timeout: GOTO_MS, waitUntil: "commit" });
    return {};
  },
  async forward({ page }) {
    await (await page()).goForward({ timeout: GOTO_MS, waitUntil: "commit" });
    return {};
  },
  click: atPlace((place) => place.click(LIMIT)),
  check: atPlace((place) => place.check(LIMIT)),
  uncheck: atPlace((place) => place.uncheck(LIMIT)),
  hover: atPlace((place) => place.hover(LIMIT)),
  async fill(hands, { target, value }) {
    await (await locate(await hands.page(), target)).fill(hands.reveal(value), LIMIT);
    return {};
  },
  async select(hands, { target, value }) {
    const wanted = [value].flat().map(hands.reveal);
    const chosen = await (await locate(await hands.page(), target)).selectOption(wanted, LIMIT);
    return { says: `Chosen: ${chosen.join(", ")}` };
  },
  async press(hands, { key, target }) {
    const page = await hands.page();
    await (target ? (await locate(page, target)).press(key, LIMIT) : page.keyboard.press(key));
    return {};
  },
  async scroll(hands, { direction = "down", target }) {
    const page = await hands.page();
    if (target) await (await locate(page, target)).scrollIntoViewIfNeeded(LIMIT);
    else await page.mouse.wheel(0, SCROLLS[direction]);
    return {};
  },
  async upload(hands, { target, files }) {
    const paths = files.map((file) => {
      const path = hands.uploadable(file);
      if (path === undefined)
        throw new BrowserActionException(`"${file}" may not be uploaded; only files below the current directory may`);
      return path;
    });
    await (await locate(await hands.page(), target)).setInputFiles(paths, LIMIT);
    return {};
  },
  async wait({ page, clock, link }, { target, gone = false, ms }) {
    if (!target) await clock.sleep(ms ?? 0, link.lost);
    else {
      const place = await locate(await page(), target);
      await place.first().waitFor({ state: gone ? "hidden" : "visible", timeout: ms ?? ACTION_MS });
    }
    return {};
  },
  async extract(hands, { name, target, attribute }) {
    const place = await locate(await hands.page(), target ?? { css: "body" });
    const value = attribute
      ? await place.getAttribute(attribute, LIMIT)
      : // biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is hidden
        await place.innerText(LIMIT).then((text) => text.trim());
    if (value === null) throw new BrowserActionException(`The element has no attribute "${attribute}"`);
    const kept = value.slice(0, MOST_TEXT);
    return { says: `Kept as "${name}": ${kept.slice(0, 2_000)}`, data: { name, value: kept } };
  },
  async screenshot({ page }, { name }) {
    return { picture: { name, png: await (await page()).screenshot(LIMIT) } };
  },
  async switchTab({ link }, { index }) {
    const page = link.tabs.all()[index];
    if (!page) throw new BrowserActionException(`There is no tab ${index}; there are ${link.tabs.all().length}`);
    link.tabs.switchTo(page);
    await page.bringToFront();
    return {};
  },
  async expect({ page, clock, link, reveal }, expectation) {
    const [text, value] = [expectation.text, expectation.value].map((each) => each && reveal(each));
    const page_ = await page();
    const current = () => link.tabs.current() ?? page_;
    const unmet = await expectOn(current, { ...expectation, text, value }, clock, link.lost);
    return unmet === undefined ? {} : { unmet: `Expected otherwise: ${unmet}` };
  },
};

/** The longest an action may take, the library's own limit included. */
export const boundOf = (action: PageAction): number => {
  const own = action.action === "wait" || action.action === "expect" ? (action.ms ?? ACTION_MS) : 0;
  return (
    Math.max(
      own,
      action.action === "goto" || action.action === "back" || action.action === "forward" ? GOTO_MS : ACTION_MS,
    ) + 2_000
  );
};

export const perform = (hands: Hands, action: PageAction): Promise<Done> =>
  (PERFORM[action.action] as (hands: Hands, action: PageAction) => Promise<Done>)(hands, action);
