// Where do the steps of a brain go when nobody said? Beside the state, the newest twenty of them.
import { join } from "node:path";
import type { World } from "../platform/world.ts";

const KEPT = 20;

export function keepNewest(
  { files, clock, newId }: Pick<World, "files" | "clock" | "newId">,
  directory: string,
): string {
  files.directory(directory);
  const stamp = clock.iso().replaceAll(/[:.]/g, "-");
  // Their names begin with their time.
  const old = files
    .list(directory)
    .sort()
    .slice(0, -(KEPT - 1));
  for (const name of old) files.remove(join(directory, name));
  return join(directory, `${stamp}-${newId().slice(0, 8)}.json`);
}
