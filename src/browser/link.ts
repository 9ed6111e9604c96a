// What is one connection to one browser? Browser, our own context, its tabs, and the one place that knows it is lost.
import type { Allows } from "../core/allowed-domains.ts";
import type { Endpoint } from "../core/endpoints.ts";
import type { BrowserProcess } from "../platform/browser-world.ts";
import type { Clock } from "../platform/world.ts";
import { BrowserActionException, BrowserDisconnectedError } from "../protocol/browser-fault.ts";
import { messageOf } from "../protocol/fault.ts";
import { fence } from "./fence.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { type Browser, type BrowserContext, type CDPSession, loadPlaywright } from "./playwright.ts";
import { giveUpAfter, race } from "./race.ts";
import { createTabs, type Tabs } from "./tabs.ts";

export interface Link {
  readonly endpoint: Endpoint;
  readonly context: BrowserContext;
  readonly tabs: Tabs;
  /** Aborts with a BrowserDisconnectedError. */
  readonly lost: AbortSignal;
  /** Any call to this browser: it ends with the call, a loss, its deadline or the task. */
  run<Value>(what: string, ms: number, call: () => Promise<Value>): Promise<Value>;
  /** Closes what is ours; a browser that does not answer is left after 2 s. Idempotent. */
  end(): Promise<void>;
}

export interface LinkOptions {
  clock: Clock;
  endpoint: Endpoint;
  url: string;
  /** Where the browser itself is ours too. */
  process: BrowserProcess | undefined;
  allows: Allows;
  isFenced: boolean;
  /** For what the library puts down: else it would be left in the folder for temporary files after a kill. */
  scratch: string;
  /** Nobody bills for a connection. */
  isFree: boolean;
  /** The other side has spoken. */
  answers(): void;
  /** Nobody waits for this connection any more. */
  over: AbortSignal;
  /** The task's end. */
  signal: AbortSignal;
}

export const CONNECT_MS = 5_000;
const CLOSE_MS = 2_000;
const AGAIN_MS = 1_000;
/** So long after the library's text the event may come that tells what it meant. */
const FOLLOWS_MS = 500;
const CLOSED = "Target page, context or browser has been closed";

/** Never by class names: they are mangled in the library's bundle. */
const saysClosed = (thrown: unknown): boolean => messageOf(thrown).includes(CLOSED);

export class PageClosed extends Error {}

/**
 * One that is just starting can leave the library waiting for ever for a page that is gone again (measured: one in ten
 * with Chromium of a second's age). So where a connection costs nothing it is tried a second time beside the first.
 */
function connectTwice(options: LinkOptions, connect: () => Promise<Browser>): Promise<Browser> {
  const { promise, resolve, reject } = Promise.withResolvers<Browser>();
  const { clock } = options;
  let won = false;
  const attempt = (): void => {
    connect().then((browser) => {
      if (won) return void giveUpAfter(clock, CLOSE_MS, browser.close());
      won = true;
      resolve(browser);
    }, reject);
  };
  const cancel = options.isFree ? clock.after(AGAIN_MS, attempt) : () => {};
  attempt();
  return promise.finally(cancel);
}

export async function connectLink(options: LinkOptions): Promise<Link> {
  const { clock, url, process, signal } = options;
  const { chromium } = await loadPlaywright();
  // One cap for all of it, measured out here: the library's own starts anew with each stage.
  const late = new AbortController();
  const cancel = clock.after(CONNECT_MS, () => late.abort(new Error(`No answer within ${CONNECT_MS} ms`)));
  const bounds = {
    clock,
    ms: CONNECT_MS * 2,
    late: () => new Error("No answer"),
    signals: [late.signal, options.over, signal],
  };
  // The library's own limit only cleans up behind ours.
  const how = {
    timeout: CONNECT_MS + 500,
    isLocal: process !== undefined,
    noDefaults: true,
    artifactsDir: options.scratch,
  };
  const connecting = connectTwice(options, () => chromium.connectOverCDP(url, how));
  try {
    const browser = await race(connecting, bounds);
    options.answers();
    try {
      return await race(openLink(browser, options), bounds);
    } catch (thrown) {
      void giveUpAfter(clock, CLOSE_MS, browser.close());
      throw thrown;
    }
  } catch (thrown) {
    // It may still answer when nobody waits any more.
    connecting.then((browser) => giveUpAfter(clock, CLOSE_MS, browser.close())).catch(() => undefined);
    await process?.end();
    throw thrown;
  } finally {
    cancel();
  }
}

/** The library tells of a new tab when it has taken it in, which may be after the step that opened it. */
async function watchTargets(session: CDPSession, context: BrowserContext, tabs: Tabs): Promise<void> {
  const page = tabs.current();
  if (!page) return;
  const own = await context.newCDPSession(page);
  const { targetInfo } = await own.send("Target.getTargetInfo");
  const { browserContextId } = targetInfo;
  session.on("Target.targetCreated", ({ targetInfo: made }) => {
    if (made.type === "page" && made.browserContextId === browserContextId) tabs.announce(made.targetId);
  });
  session.on("Target.targetDestroyed", ({ targetId }) => tabs.retract(targetId));
  await session.send("Target.setDiscoverTargets", { discover: true });
  await own.detach();
}

async function openLink(browser: Browser, options: LinkOptions): Promise<Link> {
  const { clock, endpoint, process, isFenced, allows, signal } = options;
  const lost = new AbortController();
  const lose = (why: string) => {
    if (!lost.signal.aborted) lost.abort(new BrowserDisconnectedError(why));
  };
  browser.on("disconnected", () => lose("the browser is gone"));
  const [context, session] = await Promise.all([
    browser.newContext(isFenced ? { serviceWorkers: "block" } : {}),
    browser.newBrowserCDPSession(),
  ]);
  const unfence = isFenced ? await fence(context, allows) : undefined;
  const tabs = await createTabs(context);
  await Promise.all([unfence?.ready, watchTargets(session, context, tabs)]);
  const stopHeart = startHeartbeat({
    clock,
    beat: () => session.send("Browser.getVersion"),
    frozen: () => lose("the browser is frozen: two heartbeats without an answer"),
  });
  if (!browser.isConnected()) lose("the browser is gone");

  const meaningOf = async (thrown: unknown): Promise<unknown> => {
    if (lost.signal.aborted) return lost.signal.reason;
    if (!saysClosed(thrown)) return thrown;
    if (!browser.isConnected()) lose("the browser is gone");
    // A popup that closed itself gives the same text with a healthy browser.
    await clock.sleep(FOLLOWS_MS, lost.signal);
    if (lost.signal.aborted) return lost.signal.reason;
    return new PageClosed(messageOf(thrown), { cause: thrown });
  };

  const close = async (): Promise<void> => {
    stopHeart();
    // Our context, never the user's browser: over CDP `close` only takes the connection down.
    const closing = lost.signal.aborted ? Promise.resolve() : context.close();
    await giveUpAfter(clock, CLOSE_MS, closing);
    if (!process) return await giveUpAfter(clock, lost.signal.aborted ? 0 : CLOSE_MS, browser.close());
    void browser.close().catch(() => undefined);
    await process.end();
  };
  let ending: Promise<void> | undefined;

  return {
    endpoint,
    context,
    tabs,
    lost: lost.signal,
    async run(what, ms, call) {
      const late = () => new BrowserActionException(`${what} did not finish within ${ms} ms`);
      try {
        lost.signal.throwIfAborted();
        return await race(call(), { clock, ms, late, signals: [lost.signal, signal] });
      } catch (thrown) {
        signal.throwIfAborted();
        throw await meaningOf(thrown);
      }
    },
    end() {
      ending ??= close();
      return ending;
    },
  };
}
