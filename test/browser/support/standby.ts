// Which browser of a task is active, and which stands by? Told by its events, and by the pages that real ones show.
import type { Chromium } from "./chromium.ts";
import type { TaskEvent } from "./run-task.ts";

export interface Watched {
  readonly all: readonly Chromium[];
  readonly endpoints: string[];
  onEvent(event: TaskEvent): void;
  active(): Chromium;
  /** Resolves when another than the active one has a page of ours. */
  standby(signal: AbortSignal): Promise<Chromium>;
  pagesLeft(): Promise<number[]>;
}

/** Its own first page. */
const OWN = 1;
const ours = async (chromium: Chromium): Promise<number> => (await chromium.pages()).length - OWN;

/** A thawed one may still be closing what the last task had open. */
async function rested(chromium: Chromium): Promise<void> {
  while ((await ours(chromium)) > 0) await Bun.sleep(20);
}

export async function watchStandby(all: readonly Chromium[]): Promise<Watched> {
  await Promise.all(all.map(rested));
  let active = 0;
  return {
    all,
    endpoints: all.map(({ url }) => url),
    onEvent({ type, data }) {
      if (type === "cdp:endpoint_connected") active = Number(data["endpointIndex"]);
    },
    active: () => all[active] as Chromium,
    async standby(signal) {
      while (!signal.aborted) {
        for (const [at, each] of all.entries()) {
          if (at !== active && each.running && (await ours(each).catch(() => 0)) > 0) return each;
        }
        await Bun.sleep(20);
      }
      throw signal.reason;
    },
    pagesLeft: async () => await Promise.all(all.map(async (each) => (each.running ? await ours(each) : 0))),
  };
}
