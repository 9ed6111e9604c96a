// Is the page done with what an action caused? Network and DOM are quiet, or a second is over; never a fixed sleep.
import type { Clock } from "../platform/world.ts";
import type { Link } from "./link.ts";
import type { Page } from "./playwright.ts";
import { race } from "./race.ts";

const MOST_MS = 1_000;
const LOOK_MS = 15;

/** Runs in the page: false as soon as something changes, true when nothing did for a frame. */
const isStill = (): Promise<boolean> =>
  new Promise((resolve) => {
    const { document, MutationObserver, requestAnimationFrame, setTimeout } = globalThis as unknown as PageGlobals;
    const end = (still: boolean) => {
      observer.disconnect();
      resolve(still);
    };
    const observer = new MutationObserver(() => end(false));
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    // A tab in the background draws no frames.
    setTimeout(() => end(document.readyState !== "loading"), 40);
    requestAnimationFrame(() => setTimeout(() => end(document.readyState !== "loading"), 0));
  });

interface PageGlobals {
  document: { readyState: string };
  MutationObserver: new (run: () => void) => { observe(node: unknown, options: object): void; disconnect(): void };
  requestAnimationFrame(run: () => void): void;
  setTimeout(run: () => void, ms: number): void;
}

const ask = (page: Page): Promise<boolean> => page.evaluate(isStill).catch(() => false);

export async function settle(link: Link, clock: Clock): Promise<void> {
  const deadline = clock.elapsed() + MOST_MS;
  const leftMs = () => Math.max(0, deadline - clock.elapsed());
  while (leftMs() > 0) {
    link.lost.throwIfAborted();
    const page = link.tabs.current();
    if (!page) return;
    if (!link.tabs.isBusy()) {
      const bounds = { clock, ms: leftMs(), late: () => new Error("Not still"), signals: [link.lost] };
      const still = await race(ask(page), bounds).catch(() => false);
      if (still && !link.tabs.isBusy() && link.tabs.current() === page) return;
    }
    await clock.sleep(Math.min(LOOK_MS, leftMs()), link.lost);
  }
  link.lost.throwIfAborted();
  link.tabs.forgive();
}
