// What do two bad endpoints in front of a good one cost? A black hole and a refusal, beside the good one alone.
import { PlaywrightBrowser } from "../../../src/browser/playwright-browser.ts";
import { parseEndpoints } from "../../../src/core/endpoints.ts";
import { createBrowsers } from "../../../src/platform/browser-process.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { startChromium } from "../../browser/support/chromium.ts";
import { FAULTS } from "../../browser/support/faulty.ts";
import { createTempDir } from "../../support/temp-dir.ts";
import { inTurns } from "../support/in-turns.ts";
import { atMostTimes, ms, type Row } from "../support/table.ts";

const GOAL = 3;

export async function connecting(rounds: number): Promise<Row[]> {
  using folder = createTempDir();
  const good = await startChromium();
  const hole = await FAULTS["black hole"]?.();
  const refused = await FAULTS["connection refused"]?.();
  const connect = async (urls: readonly string[]): Promise<number> => {
    const browser = new PlaywrightBrowser({
      clock: systemClock,
      browsers: createBrowsers(folder.at("browsers"), process.env),
      endpoints: parseEndpoints(urls),
      standby: undefined,
      allows: () => true,
      allowedDomains: [],
      reveal: (text) => text,
      revealInUrl: (url) => url,
      uploadable: () => undefined,
      cycled() {},
      scratch: folder.path,
      signal: new AbortController().signal,
    });
    const since = performance.now();
    await browser.start();
    const took = performance.now() - since;
    await browser.end();
    return took;
  };
  try {
    const bad = [hole?.url ?? "", refused?.url ?? ""];
    const { bare, ours, ratio } = await inTurns(
      rounds,
      () => connect([good.url]),
      () => connect([...bad, good.url]),
    );
    return [
      atMostTimes(
        "Connect past black hole and refusal, to good one",
        GOAL,
        ratio,
        `good ${ms(bare)}, past both ${ms(ours)}`,
      ),
    ];
  } finally {
    hole?.end();
    await good.end();
  }
}
