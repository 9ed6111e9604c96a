// What did a test leave behind? Processes are found by a variable in their environment, listeners by their port.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

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

/** Every process whose words or environment name this directory. */
export const mentioning = (directory: string): Tagged[] =>
  pids()
    .filter((pid) => ["cmdline", "environ"].some((file) => read(`/proc/${pid}/${file}`).includes(directory)))
    .map((pid) => ({ pid, command: commandLine(pid) }));

/** Whether it takes SIGINT into its own hands already: before that the system ends it. */
export function handlesSignals(pid: number): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return (BigInt(`0x${caught ?? "0"}`) & 0b10n) !== 0n;
}

const LISTEN = "0A";
const INODE_FIELD = 9;

/** As the kernel writes them, field by field. */
function listening(port: number): string[][] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    read(file)
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTEN),
  );
}

/** Local addresses, as the kernel writes them, that somebody listens on. */
export const listeners = (port: number): string[] => listening(port).map(([, local]) => local ?? "");

/** Its descriptors, with what each leads to. */
const opened = (pid: number): { fd: number; link: string }[] => {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).map((fd) => ({ fd: Number(fd), link: readlinkSync(`${directory}/${fd}`) }));
  } catch {
    // It is just going.
    return [];
  }
};

const listeningSockets = (port: number): string[] => listening(port).map((fields) => `socket:[${fields[INODE_FIELD]}]`);

/** Which of these listens on the port. */
export function listenerOf(port: number, among: readonly number[]): number | undefined {
  const sockets = listeningSockets(port);
  if (sockets.length === 0) return undefined;
  return among.find((pid) => opened(pid).some(({ link }) => sockets.includes(link)));
}

/** Numbers of the descriptors with which a host watches files, and of those with which it listens. */
export function hostDescriptors(pid: number, port: number): { watching: number[]; listening: number[] } {
  const sockets = listeningSockets(port);
  const numbers = (isWanted: (link: string) => boolean) =>
    opened(pid).flatMap(({ fd, link }) => (isWanted(link) ? [fd] : []));
  return {
    watching: numbers((link) => link.includes("inotify")),
    listening: numbers((link) => sockets.includes(link)),
  };
}

/** To one that was just seen, and may be gone by now. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

/** A zombie is not: its new parent may take its time. */
export const isRunning = (pid: number): boolean => /\) [^Z] /.test(read(`/proc/${pid}/stat`));

/** Fields behind the name: state, parent, group, session. */
export const kinship = (pid: number): { group: number; session: number } => {
  const [, , group, session] = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  return { group: Number(group), session: Number(session) };
};

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

const datagrams = async (port: number) => {
  try {
    return await Bun.udpSocket({ hostname: "127.0.0.1", port });
  } catch {
    return undefined;
  }
};

export interface Reserved {
  port: number;
  release(): void;
}

/**
 * Below the ports that the system gives to outgoing connections: those could hold it by chance. Many stages stand at
 * once: each holds the port of the same number for datagrams, which nobody here uses and the system frees by itself.
 */
export async function reservePort(): Promise<Reserved> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const held = await datagrams(port);
    if (!held) continue;
    held.unref();
    if (["127.0.0.1", "::1"].every((hostname) => isFree(hostname, port))) return { port, release: () => held.close() };
    held.close();
  }
}
