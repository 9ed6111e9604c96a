// Who surfs? A web task from a steps file, on a page that we serve ourselves, in a Chromium that may die.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBrowser } from "../../../src/platform/find-browser.ts";
import type { Scene } from "./scene.ts";

const PAGE = `<!doctype html><title>Chaos</title><label>Name <input id=name></label>
<button onclick="out.textContent='Hello '+document.getElementById('name').value">Save</button><p id=out></p>`;

export const canSurf = (): boolean => findBrowser(process.env) !== undefined;

export async function surf({ yard, dice, isOver, pause }: Scene): Promise<void> {
  if (!canSurf()) return;
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(PAGE, { headers: { "content-type": "text/html" } }),
  });
  try {
    for (let count = 1; !isOver(); count++) {
      const who = `visitor ${count}`;
      const steps = [
        { action: "goto", url: `http://127.0.0.1:${site.port}/` },
        { action: "fill", target: { label: "Name" }, value: who },
        { action: "click", target: { role: "button", name: "Save" } },
        { action: "wait", ms: dice.whole(10, 1_500) },
        { action: "extract", name: "greeting", target: { css: "#out" } },
      ];
      const file = join(yard.directory, "work", "steps.json");
      if (!wrote(file, JSON.stringify({ steps }))) continue;
      const about = { prints: `greeting: Hello ${who}\n` };
      await yard.run("browse", ["browse", file], { about, deadlineMs: 150_000 });
      await pause(dice.between(300, 3_000));
    }
  } finally {
    await site.stop(true);
  }
}

/** On a full disk nobody surfs. */
function wrote(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch {
    return false;
  }
}

const SWEEP_MS = 15_000;

/** What a killed task left is ended by the next one's start. */
export async function sweepBrowsers(yard: Scene["yard"]): Promise<void> {
  if (!existsSync(join(yard.state, "browsers"))) return;
  const file = join(yard.directory, "work", "sweep.json");
  writeFileSync(file, JSON.stringify({ steps: [{ action: "wait", ms: 1 }] }));
  // One that was never signed is swept when it is old enough.
  for (const until = performance.now() + SWEEP_MS; performance.now() < until; await Bun.sleep(1_000)) {
    await yard.run("sweep", ["browse", file, "--cdp", "http://127.0.0.1:1"]);
    if (readdirSync(join(yard.state, "browsers")).length === 0) return;
  }
}
