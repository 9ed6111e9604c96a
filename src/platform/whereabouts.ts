// Where do we run? Machine, boot and namespaces, as Linux tells them; elsewhere a home is shared too rarely to ask.
import { readFileSync, readlinkSync } from "node:fs";
import type { Whereabouts } from "../protocol/whereabouts.ts";

const ID_LETTERS = 16;

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "latin1").trim();
  } catch {
    // Containers often have none.
    return "";
  }
}

function look(): Whereabouts | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const host = readFileSync("/proc/sys/kernel/hostname", "latin1").trim();
    const where = {
      // Copied images have the same id, and names of their own.
      machine: `${machineId()} ${host}`,
      host,
      boot: readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim(),
      pids: readlinkSync("/proc/self/ns/pid"),
      net: readlinkSync("/proc/self/ns/net"),
    };
    const id = new Bun.CryptoHasher("sha256").update(JSON.stringify(where)).digest("hex").slice(0, ID_LETTERS);
    return { id, ...where };
  } catch {
    // No /proc, or no descriptor just now: then nothing is marked, and nothing of ours looks like another's.
    return undefined;
  }
}

let known: Whereabouts | undefined;

export function whereabouts(): Whereabouts | undefined {
  known ??= look();
  return known;
}
