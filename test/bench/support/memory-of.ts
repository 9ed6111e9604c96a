// How much memory does a process have? The kernel's own account of it, in MiB.
import { readFileSync } from "node:fs";

export interface Memory {
  rss: number;
  pss: number;
  own: number;
}

/** Undefined where the system does not tell. */
export function memoryOf(pid: number): Memory | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  } catch {
    return undefined;
  }
  const mib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1024;
  return { rss: mib("Rss"), pss: mib("Pss"), own: mib("Private_Clean") + mib("Private_Dirty") };
}
