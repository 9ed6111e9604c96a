// Which page are we on? New tabs are followed, a closed one leads back to its opener, dialogs are noted and answered.
import type { BrowserContext, Page } from "./playwright.ts";

export interface Tabs {
  current(): Page | undefined;
  all(): readonly Page[];
  switchTo(page: Page): void;
  open(): Promise<Page>;
  /** What happened by itself since the last time somebody asked. */
  takeNotes(): string[];
  /** Requests run on the page we are on, or a new tab is announced and not there yet. */
  isBusy(): boolean;
  /** What still runs is the page's own affair, such as a long poll: it is not waited for again. */
  forgive(): void;
  /** Told by the browser long before the library tells of the page. */
  announce(targetId: string): void;
  retract(targetId: string): void;
}

/** These go on for as long as they like. */
const ENDLESS: ReadonlySet<string> = new Set(["websocket", "eventsource", "media", "ping", "manifest"]);
const MAX_DIALOG = 300;

export async function createTabs(context: BrowserContext): Promise<Tabs> {
  const pages: Page[] = [];
  const openers = new Map<Page, Page>();
  const requests = new Map<Page, Set<unknown>>();
  const announced = new Set<string>();
  let current: Page | undefined;
  let notes: string[] = [];

  const left = (page: Page, note: string): void => {
    const at = pages.indexOf(page);
    if (at === -1) return;
    pages.splice(at, 1);
    if (current !== page) return;
    const opener = openers.get(page);
    current = opener && pages.includes(opener) ? opener : pages.at(-1);
    notes.push(note);
  };
  const follow = (page: Page): void => {
    if (pages.includes(page)) return;
    const running = new Set<unknown>();
    requests.set(page, running);
    pages.push(page);
    if (current) {
      openers.set(page, current);
      notes.push("A new tab was opened and is followed");
    }
    current = page;
    page.on("close", () => left(page, "The tab closed; its opener is the current one"));
    page.on("crash", () => {
      left(page, "The page crashed");
      page.close().catch(() => undefined);
    });
    page.on("request", (request) => (ENDLESS.has(request.resourceType()) ? undefined : void running.add(request)));
    page.on("requestfinished", (request) => void running.delete(request));
    page.on("requestfailed", (request) => void running.delete(request));
    page.on("dialog", (dialog) => {
      notes.push(`A dialog (${dialog.type()}) said "${dialog.message().slice(0, MAX_DIALOG)}" and was accepted`);
      dialog.accept(dialog.type() === "prompt" ? dialog.defaultValue() : undefined).catch(() => undefined);
    });
    page.on("download", (download) => {
      notes.push(`A download was offered and not kept: ${download.suggestedFilename()}`);
      download.cancel().catch(() => undefined);
    });
  };

  context.on("page", follow);
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    follow(page);
    current = page;
    return page;
  };
  await open();
  notes = [];
  return {
    current: () => current,
    all: () => pages,
    switchTo(page) {
      current = page;
    },
    open,
    takeNotes() {
      const taken = notes;
      notes = [];
      return taken;
    },
    isBusy: () => announced.size > pages.length || (current !== undefined && (requests.get(current)?.size ?? 0) > 0),
    forgive: () => (current ? requests.get(current)?.clear() : undefined),
    announce: (targetId) => void announced.add(targetId),
    retract: (targetId) => void announced.delete(targetId),
  };
}
