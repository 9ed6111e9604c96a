// Which binary is tested? The one that HOLDFAST_BINARY names; else the one of this source, built first where it is
// missing or older. Whoever imports this has it; tests without a binary do not wait for one.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXECUTABLE, isOutdated } from "../../build.ts";

const BUILD = join(import.meta.dir, "../../build.ts");

async function binaryToTest(): Promise<string> {
  const named = process.env["HOLDFAST_BINARY"];
  if (named) {
    if (!existsSync(named)) throw new Error(`HOLDFAST_BINARY names "${named}", and there is no such file`);
    return resolve(named);
  }
  if (!isOutdated()) return EXECUTABLE;
  // Several at once ask for it: build.ts lets one build, and the others find it done.
  const building = Bun.spawn([process.execPath, BUILD, "--if-outdated"], { stdio: ["ignore", "pipe", "pipe"] });
  const [code, said, errors] = await Promise.all([building.exited, building.stdout.text(), building.stderr.text()]);
  if (code !== 0) throw new Error(`"bun build.ts" ended with ${code}, so there is no binary to test:\n${errors}`);
  if (said) console.error(said.trim());
  return EXECUTABLE;
}

export const BINARY = await binaryToTest();
