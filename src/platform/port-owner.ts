// Who holds a port? Linux tells through /proc, where we may look; elsewhere nobody knows.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTEN = "0A";
const LOOPBACK_V4 = "0100007F";

function listeningInode(port: number): string | undefined {
  const wanted = `${LOOPBACK_V4}:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const any = `00000000:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)) {
    const columns = line.trim().split(/\s+/);
    if ((columns[1] === wanted || columns[1] === any) && columns[3] === LISTEN) return columns[9];
  }
  return undefined;
}

function holds(pid: string, link: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === link;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}

export function portOwner(port: number): { pid: number; command: string } | undefined {
  try {
    const inode = listeningInode(port);
    if (inode === undefined || inode === "0") return undefined;
    const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && holds(name, `socket:[${inode}]`));
    if (pid === undefined) return undefined;
    return { pid: Number(pid), command: readFileSync(`/proc/${pid}/comm`, "utf8").trim() };
  } catch {
    return undefined;
  }
}
