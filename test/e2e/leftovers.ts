// What did a test leave behind? Processes are found by a variable in their environment, listeners by their port.
import { readdirSync, readFileSync } from "node:fs";

export interface Tagged {
  pid: number;
  command: string;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

const pids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

export const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`).split("\0").join(" ").trim();

/** Every process that inherited the tag, however far down; a zombie has no environment any more. */
export const taggedProcesses = (tag: string): Tagged[] =>
  pids()
    .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(tag))
    .map((pid) => ({ pid, command: commandLine(pid) }));

/** Whether it takes SIGINT into its own hands already: before that the system ends it. */
export function handlesSignals(pid: number): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return (BigInt(`0x${caught ?? "0"}`) & 0b10n) !== 0n;
}

const LISTEN = "0A";

/** Local addresses, as the kernel writes them, that somebody listens on. */
export function listeners(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    read(file)
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTEN)
      .map(([, local]) => local ?? ""),
  );
}

/** Paths of unix sockets below a directory that somebody holds. */
export const unixSockets = (directory: string): string[] =>
  read("/proc/net/unix")
    .split("\n")
    .map((line) => line.split(" ").at(-1) ?? "")
    .filter((path) => path.startsWith(`${directory}/`));

function isFree(hostname: string, port: number): boolean {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
    return true;
  } catch (thrown) {
    // Where there is no [::1] nobody can hold it.
    return hostname === "::1" && (thrown as { code?: string }).code !== "EADDRINUSE";
  }
}

/** Below the ports that the system gives to outgoing connections: those could hold it by chance. */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (["127.0.0.1", "::1"].every((hostname) => isFree(hostname, port))) return port;
  }
}
