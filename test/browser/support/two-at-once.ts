// May files with browsers run side by side? Two of them: a browser that gets no time counts as frozen after two
// heartbeats, and four files would start a dozen. Whoever imports this waits until fewer than two others run.
import { Database } from "bun:sqlite";
import { afterAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const LOOK_MS = 100;
const DIST = join(import.meta.dir, "../../../dist");

mkdirSync(DIST, { recursive: true });
// The kernel gives a lock back when its holder dies.
const places = [1, 2].map((place) => new Database(join(DIST, `.browsers-${place}`)));

function take(place: Database): boolean {
  try {
    place.run("BEGIN EXCLUSIVE");
    return true;
  } catch (thrown) {
    if ((thrown as { code?: string }).code === "SQLITE_BUSY") return false;
    throw thrown;
  }
}

while (!places.some(take)) await Bun.sleep(LOOK_MS);
afterAll(() => {
  for (const place of places) place.close();
});
