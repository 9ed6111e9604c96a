// Is there a small disk to be had? A tmpfs of its own, where we may mount one; it is filled to the last byte and emptied.
import { appendFileSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fault } from "./faults/fault.ts";

export interface Disk {
  directory: string;
  fill(): void;
  empty(): void;
  remove(): Promise<void>;
}

const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
const system = (...words: string[]) => Bun.spawnSync([...asRoot, ...words], { stdin: "ignore" });
const AGAIN = 100;
const mounted = new Set<string>();

/** Somebody wants to be gone now. */
export function abandonDisks(): void {
  for (const directory of mounted) if (system("umount", "--lazy", directory).exitCode === 0) rmdirSync(directory);
}

/** Undefined: nobody lets us mount one. */
export function openDisk(megabytes: number): Disk | undefined {
  const directory = mkdtempSync(join(tmpdir(), "hf-disk-"));
  const options = `size=${megabytes}m,mode=700,uid=${process.getuid?.()}`;
  if (system("mount", "-t", "tmpfs", "-o", options, "tmpfs", directory).exitCode !== 0) {
    rmdirSync(directory);
    return undefined;
  }
  mounted.add(directory);
  const ballast = join(directory, "ballast");
  const empty = (): void => rmSync(ballast, { force: true });
  return {
    directory,
    empty,
    fill() {
      for (const bytes of [1024 * 1024, 4_096, 1]) {
        try {
          for (const block = Buffer.alloc(bytes); ; ) appendFileSync(ballast, block);
        } catch (thrown) {
          if ((thrown as { code?: string }).code !== "ENOSPC") throw thrown;
        }
      }
    },
    async remove() {
      empty();
      // A process that is gone to all who look may still be closing its files.
      for (let times = 0; system("umount", directory).exitCode !== 0; times++) {
        if (times > AGAIN) throw new Error(`"${directory}" cannot be unmounted`);
        await Bun.sleep(50);
      }
      mounted.delete(directory);
      rmdirSync(directory);
    },
  };
}

export const fillDisk = (disk: Disk): Fault => ({
  name: "fill-disk",
  says: "the disk is full to the last byte for up to three seconds",
  weight: 6,
  async strike({ yard, dice }) {
    const fault = yard.history.fault({ name: "fill-disk", what: "fill disk", until: Number.POSITIVE_INFINITY });
    const until = performance.now() + dice.between(100, 3_000);
    try {
      // Somebody may give something back meanwhile.
      do {
        disk.fill();
        await Bun.sleep(dice.between(20, 200));
        const host = yard.processes.host();
        if (host !== undefined && dice.chance(0.25) && yard.signal(host, "SIGKILL"))
          yard.history.fault({ name: "fill-disk", what: "kill host", pid: host });
      } while (performance.now() < until);
    } finally {
      disk.empty();
      fault.until = Date.now();
    }
  },
});
