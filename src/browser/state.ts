// What of a browser can be carried to the next? Cookies, and the storage of the sites that were visited.
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
const MOST_ORIGINS = 20;

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
const writeStorage = ({ local, session }: Storage): void => {
  const { localStorage, sessionStorage } = globalThis as unknown as PageGlobals;
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

/** A page of the site that is none: nothing of the site runs before its storage is there. */
async function restoreOrigin(page: Page, origin: string, storage: Storage): Promise<void> {
  const url = `${origin}/`;
  await page.route(url, (route) => route.fulfill({ contentType: "text/html", body: "" }));
  try {
    await page.goto(url);
    await page.evaluate(writeStorage, storage);
  } finally {
    await page.unroute(url);
  }
}

export async function restoreState(link: Link, { cookies, origins }: CarriedState): Promise<void> {
  await link.run("Restoring cookies and storage", SAVE_MS, async () => {
    if (cookies.length > 0) await link.context.addCookies(cookies);
    const page = link.tabs.current();
    const full = [...origins].filter(([, storage]) => !isEmpty(storage)).slice(-MOST_ORIGINS);
    // In the tab that goes on: session storage is a tab's own.
    for (const [origin, storage] of full) if (page) await restoreOrigin(page, origin, storage);
  });
}
