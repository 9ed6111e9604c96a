// What is a browser to a task? Start, look, act and shut down; every call ends, and a lost browser is said as such.
import type { Allows } from "../core/allowed-domains.ts";
import { type Endpoint, mayStandBy } from "../core/endpoints.ts";
import type { Browsers } from "../platform/browser-world.ts";
import type { Clock } from "../platform/world.ts";
import { BrowserActionException, BrowserDisconnectedError } from "../protocol/browser-fault.ts";
import { Fault, messageOf } from "../protocol/fault.ts";
import type { PageAction } from "../protocol/web-task.ts";
import { boundOf, type Done, GOTO_MS, goto, type Hands, perform } from "./actions.ts";
import { createEndpointPool, type EndpointPool, type PoolOptions } from "./endpoint-pool.ts";
import { connectLink, type Link, PageClosed } from "./link.ts";
import { localBrowser } from "./local-browser.ts";
import { loadPlaywright, type Page } from "./playwright.ts";
import { settle } from "./settle.ts";
import { type CarriedState, restoreState, saveState } from "./state.ts";

export interface BrowserOptions {
  clock: Clock;
  browsers: Browsers;
  endpoints: readonly Endpoint[];
  standby: boolean | undefined;
  allows: Allows;
  allowedDomains: readonly string[];
  reveal(text: string): string;
  revealInUrl(url: string): string;
  uploadable(path: string): string | undefined;
  cycled: PoolOptions["cycled"];
  scratch: string;
  /** The end of the task. */
  signal: AbortSignal;
}

export interface Sight {
  url: string;
  title: string;
  /** With refs; empty where nobody looks. */
  tree: string;
  tabs: string[];
}

const LOOK_MS = 10_000;

export class PlaywrightBrowser {
  readonly #options: BrowserOptions;
  readonly #pool: EndpointPool;
  #link: Link | undefined;
  /** Whoever acts on a page that was just opened waits for what it needs; only who looks needs all of it. */
  #unsettled: Link | undefined;

  constructor(options: BrowserOptions) {
    this.#options = options;
    const { clock, endpoints, standby, cycled } = options;
    this.#pool = createEndpointPool({
      clock,
      endpoints,
      standby,
      cycled,
      connect: (endpoint, answers, over) => this.#connect(endpoint, answers, over),
    });
  }

  async #connect(endpoint: Endpoint, answers: () => void, over: AbortSignal): Promise<Link> {
    const { clock, browsers, allows, allowedDomains, scratch, signal } = this.#options;
    const isFree = endpoint.kind === "local" || mayStandBy(endpoint, undefined);
    const shared = {
      scratch,
      clock,
      endpoint,
      allows,
      isFree,
      isFenced: allowedDomains.length > 0,
      answers,
      signal,
      over,
    };
    if (endpoint.kind === "cdp") return await connectLink({ ...shared, url: endpoint.url, process: undefined });
    return await connectLink({
      ...shared,
      ...(await localBrowser(browsers, allowedDomains, clock, AbortSignal.any([signal, over]))),
    });
  }

  get #active(): Link {
    if (!this.#link) throw new BrowserDisconnectedError("there is no browser");
    return this.#link;
  }

  /** Aborts when this browser is lost: for whoever waits for something else meanwhile. */
  get lost(): AbortSignal {
    return this.#active.lost;
  }

  get nextStartIndex(): number {
    return this.#pool.nextStartIndex;
  }

  isConnected(): boolean {
    return this.#link !== undefined && !this.#link.lost.aborted;
  }

  /** On the standby, else on the next unused endpoint; throws EndpointsExhaustedError when there is none. */
  async start(): Promise<{ endpointIndex: number; total: number; kind: Endpoint["kind"] }> {
    const { signal, endpoints } = this.#options;
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    const onAbort = () => stopped.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      // Not on the time of the first endpoint: it would always seem slow.
      await loadPlaywright();
      this.#link = await Promise.race([this.#pool.start(), stopped.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    const { kind, index } = this.#link.endpoint;
    return { endpointIndex: index, total: endpoints.length, kind };
  }

  /** Of the browser in use; a dead one is not waited for. */
  shutdown(): void {
    this.#link = undefined;
    this.#pool.leave();
  }

  /** Everything, the standby too; resolves when nothing of ours is left. */
  async end(): Promise<void> {
    this.#link = undefined;
    await this.#pool.end();
  }

  #hands(link: Link): Hands {
    const { clock, allows, reveal, revealInUrl, uploadable } = this.#options;
    return { link, clock, allows, reveal, revealInUrl, uploadable, page: () => pageOf(link) };
  }

  async goto(url: string): Promise<void> {
    const link = this.#active;
    const hands = this.#hands(link);
    await asAction(() => link.run("Opening the page", GOTO_MS + 2_000, () => goto(hands, url)));
    this.#unsettled = link;
  }

  async performAction(action: PageAction): Promise<Done & { notes: string[] }> {
    const link = this.#active;
    const done = await asAction(async (): Promise<Done> => {
      try {
        return await link.run(`"${action.action}"`, boundOf(action), () => perform(this.#hands(link), action));
      } catch (thrown) {
        // The page is gone, not the browser: the task goes on where it came from.
        if (thrown instanceof PageClosed) return { says: "The page closed meanwhile" };
        throw thrown;
      }
    });
    await this.#settle(link);
    return { ...done, notes: link.tabs.takeNotes() };
  }

  async getTreeWithRefs(): Promise<Sight> {
    const link = this.#active;
    if (this.#unsettled === link) await this.#settle(link);
    return await this.#look(link, "Reading the page", async (page) => {
      const [tree, title] = await Promise.all([page.locator("body").ariaSnapshot({ mode: "ai" }), page.title()]);
      const tabs = link.tabs.all().map((tab, index) => `${index}${tab === page ? " (current)" : ""}: ${tab.url()}`);
      return { url: page.url(), title, tree, tabs };
    });
  }

  async getScreenshot(): Promise<Uint8Array> {
    return await this.#look(this.#active, "Taking a screenshot", (page) => page.screenshot({ timeout: LOOK_MS }));
  }

  getUrl(): string {
    return this.#active.tabs.current()?.url() ?? "about:blank";
  }

  async saveState(before: CarriedState | undefined): Promise<CarriedState> {
    return await asAction(() => saveState(this.#active, before));
  }

  /** Says what could not be put into this browser. */
  async restoreState(state: CarriedState): Promise<string[]> {
    const link = this.#active;
    const { clock, signal } = this.#options;
    return await restoreState({ link, clock, signal, page: () => pageOf(link) }, state);
  }

  async #settle(link: Link): Promise<void> {
    this.#unsettled = undefined;
    await link.run("Settling", LOOK_MS, () => settle(link, this.#options.clock));
  }

  /** A page that closes while it is looked at is left for its opener, once. */
  async #look<Value>(link: Link, what: string, see: (page: Page) => Promise<Value>): Promise<Value> {
    const once = () => link.run(what, LOOK_MS, async () => see(await pageOf(link)));
    return await asAction(async () => {
      try {
        return await once();
      } catch (thrown) {
        if (!(thrown instanceof PageClosed)) throw thrown;
        return await once();
      }
    });
  }
}

/** With no page left a new one is opened; a context that gives none is as good as a lost browser. */
async function pageOf(link: Link): Promise<Page> {
  const page = link.tabs.current();
  if (page && !page.isClosed()) return page;
  try {
    return await link.tabs.open();
  } catch (thrown) {
    throw new BrowserDisconnectedError(`no page can be opened any more: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** What is not a loss, and not ours already, is the action's failure. */
async function asAction<Value>(call: () => Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (thrown) {
    if (thrown instanceof Fault || !(thrown instanceof Error) || thrown.name === "AbortError") throw thrown;
    throw new BrowserActionException(plain(thrown.message), { cause: thrown });
  }
}

/** The library colours its log of calls. */
const plain = (text: string): string => text.replace(/\x1b\[[0-9;]*m/g, "").trim();
