// Which versions are these, what does this platform lack, and is there room on the disk?
import type { Checkup } from "../../platform/checkup.ts";
import { DISK_FLOOR_BYTES } from "../../protocol/settings.ts";
import { VERSION } from "../../protocol/version.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** What holdfast cannot do here; nothing can be done about it, but who relies on it should know. */
export function lacksOf(platform: string): string[] {
  if (platform === "linux") return [];
  const owner = "the process that holds a port cannot be named";
  const sweep = "processes that an ended agent left in sessions of their own are not found";
  return platform === "win32"
    ? ["agents die with their host: there are no keepers", "file modes are not checked", owner, sweep]
    : [owner, sweep];
}

const MIB = 1024 * 1024;

export function roomIn(directory: string, bytes: number): Finding[] {
  if (bytes === Number.POSITIVE_INFINITY) return [];
  const left = bytes < 1024 * MIB ? `${Math.floor(bytes / MIB)} MiB` : `${Math.floor(bytes / MIB / 1024)} GiB`;
  const text = `${left} free for ${directory}`;
  if (bytes >= DISK_FLOOR_BYTES) return [ok("disk", text)];
  return [problem("disk", text, `make room, ${DISK_FLOOR_BYTES / MIB} MiB at least; journals go with: holdfast prune`)];
}

export function checkMachine({ platform, arch, bun, freeBytes }: Checkup, stateDirectory: string): Finding[] {
  return [
    ok("version", `holdfast ${VERSION}, Bun ${bun}, ${platform} ${arch}`),
    ...lacksOf(platform).map((text) => warning("platform", `On this platform ${text}`)),
    ...roomIn(stateDirectory, freeBytes(stateDirectory)),
  ];
}
