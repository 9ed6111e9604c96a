// What of a browser can be carried to the next? Cookies, and the storage of the sites that were visited.
import type { Clock } from "../platform/world.ts";
import { BrowserDisconnectedError } from "../protocol/browser-fault.ts";
import { firstLineOf } from "../protocol/fault.ts";
import type { Link } from "./link.ts";
import type { Page } from "./playwright.ts";

type Items = Record<string, string>;

interface Storage {
  local: Items;
  session: Items;
}

export interface CarriedState {
  cookies: Awaited<ReturnType<Link["context"]["cookies"]>>;
  origins: ReadonlyMap<string, Storage>;
}

const SAVE_MS = 10_000;
const RESTORE_MS = 10_000;
/** Of one part: a site that hangs leaves time for the others. */
const PART_MS = 3_000;
const MOST_ORIGINS = 20;
const MOST_TOLD = 5;

interface PageGlobals {
  location: { origin: string };
  localStorage: Items;
  sessionStorage: Items;
}

/** Runs in the page. */
const readStorage = (): [string, Storage] | undefined => {
  const { location, localStorage, sessionStorage } = globalThis as unknown as PageGlobals;
  try {
    return [location.origin, { local: { ...localStorage }, session: { ...sessionStorage } }];
  } catch {
    return undefined;
  }
};

/** Runs in the page. */
const writeStorage = ({ origin, storage: { local, session } }: { origin: string; storage: Storage }): void => {
  const { location, localStorage, sessionStorage } = globalThis as unknown as PageGlobals;
  // One that comes late may find the tab elsewhere.
  if (location.origin !== origin) throw new Error(`The page is at "${location.origin}"`);
  Object.assign(localStorage, local);
  Object.assign(sessionStorage, session);
};

const isSite = (origin: string): boolean => /^https?:/.test(origin);

export async function saveState(link: Link, before: CarriedState | undefined): Promise<CarriedState> {
  return await link.run("Saving cookies and storage", SAVE_MS, async () => {
    const frames = link.tabs.current()?.frames() ?? [];
    const [cookies, ...found] = await Promise.all([
      link.context.cookies(),
      ...frames.map((frame) => frame.evaluate(readStorage).catch(() => undefined)),
    ]);
    const origins = new Map(before?.origins);
    for (const each of found) if (each && isSite(each[0])) origins.set(...each);
    return { cookies, origins };
  });
}

const isEmpty = ({ local, session }: Storage): boolean => Object.keys({ ...local, ...session }).length === 0;

export interface Restoring {
  link: Link;
  clock: Pick<Clock, "elapsed">;
  page(): Promise<Page>;
  /** The end of the task. */
  signal: AbortSignal;
}

/** A page of the site that is none: nothing of the site runs before its storage is there. */
async function restoreOrigin(page: Page, origin: string, storage: Storage, ms: number): Promise<void> {
  const url = `${origin}/`;
  await page.route(url, (route) => route.fulfill({ contentType: "text/html", body: "" }));
  try {
    await page.goto(url, { timeout: ms });
    await page.evaluate(writeStorage, { origin, storage });
  } finally {
    await page.unroute(url);
  }
}

/** Part by part: what one cookie or one site does not take, the others still do. Says what is missing; throws a loss. */
export async function restoreState(
  { link, clock, page, signal }: Restoring,
  { cookies, origins }: CarriedState,
): Promise<string[]> {
  const deadline = clock.elapsed() + RESTORE_MS;
  const missingAfter = async (what: string, restore: (ms: number) => Promise<void>): Promise<string[]> => {
    const ms = Math.min(PART_MS, deadline - clock.elapsed());
    if (ms <= 0) return [`${what}: no time was left for it`];
    try {
      await link.run("Restoring it", ms, () => restore(ms));
      return [];
    } catch (thrown) {
      for (const each of [signal, link.lost]) each.throwIfAborted();
      if (thrown instanceof BrowserDisconnectedError) throw thrown;
      return [`${what}: ${firstLineOf(thrown)}`];
    }
  };
  const refused: string[] = [];
  const restoreCookies = async (): Promise<void> => {
    try {
      await link.context.addCookies(cookies);
    } catch {
      // One that the browser refuses takes the whole list along.
      const each = cookies.map(async (cookie) => {
        const onRefused = (thrown: unknown) =>
          void refused.push(`"${cookie.name}" of ${cookie.domain}: ${firstLineOf(thrown)}`);
        await link.context.addCookies([cookie]).catch(onRefused);
      });
      await Promise.all(each);
    }
  };

  const missing = cookies.length > 0 ? await missingAfter("the cookies", restoreCookies) : [];
  missing.push(...refused.slice(0, MOST_TOLD).map((text) => `the cookie ${text}`));
  if (refused.length > MOST_TOLD) missing.push(`${refused.length - MOST_TOLD} more cookies`);
  const full = [...origins].filter(([, storage]) => !isEmpty(storage)).slice(-MOST_ORIGINS);
  for (const [origin, storage] of full) {
    // In the tab that goes on: session storage is a tab's own.
    const restore = async (ms: number) => restoreOrigin(await page(), origin, storage, ms);
    missing.push(...(await missingAfter(`the storage of ${origin}`, restore)));
  }
  return missing;
}
