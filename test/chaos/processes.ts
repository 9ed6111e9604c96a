// Who is who? Every process of a yard by its role, read from /proc: asking a host takes longer than some of them live.
import { readdirSync, readFileSync } from "node:fs";
import { commandLine, isRunning, listenerOf, type Tagged } from "../e2e/leftovers.ts";

export type Role = "host" | "keeper" | "agent" | "holder" | "standby" | "browser" | "plugin" | "client";

export interface Member extends Tagged {
  role: Role;
}

/** Without the host: who listens is looked up apart. */
export function roleOf(command: string): Exclude<Role, "host"> | undefined {
  if (/ keeper \//.test(command)) return "keeper";
  if (/ demo-agent$/.test(command)) return "agent";
  if (command.includes("while kill -0") || command.startsWith("env -i PATH=")) return "holder";
  // Its renderers and helpers die with it.
  if (command.includes("--user-data-dir")) return command.includes("--type=") ? undefined : "browser";
  if (/ (serve --standby|background-host)\b/.test(command) || / serve( |$)/.test(command)) return "standby";
  if (/ plugin js\b/.test(command)) return "plugin";
  return / (prompt|attach|read|sessions|status|exec|cancel|keep|close|acp|mcp|browse|stop)\b/.test(command)
    ? "client"
    : undefined;
}

const LISTEN = "0A";

/** The socket that listens on 127.0.0.1, as the kernel numbers it. */
export function listeningInode(table: string, port: number): string | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of table.split("\n")) {
    if (!line.includes(local)) continue;
    const fields = line.trim().split(/\s+/);
    if (fields[1] === local && fields[3] === LISTEN) return fields[9];
  }
  return undefined;
}

export interface Processes {
  all(): Tagged[];
  members(...roles: Role[]): Member[];
  host(): number | undefined;
  /** Tells of each new listener, until the answer is called. */
  watch(promoted: (pid: number) => void): () => void;
}

const LOOK_MS = 6;

export function createProcesses(port: number, tags: readonly string[]): Processes {
  const isOurs = (pid: number): boolean => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      return tags.some((tag) => variables.includes(tag));
    } catch {
      // Gone, or somebody else's.
      return false;
    }
  };
  // Once for all tags: it is looked for many times a second, beside everything else.
  const all = (): Tagged[] =>
    readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && isOurs(pid) && isRunning(pid))
      .map((pid) => ({ pid, command: commandLine(pid) }));
  const inode = () => listeningInode(readFileSync("/proc/net/tcp", "utf8"), port);
  const host = () =>
    listenerOf(
      port,
      all().map(({ pid }) => pid),
    );
  return {
    all,
    host,
    members(...roles) {
      const found = all();
      const listener = listenerOf(
        port,
        found.map(({ pid }) => pid),
      );
      return found.flatMap(({ pid, command }) => {
        const role: Role | undefined = pid === listener ? "host" : roleOf(command);
        return role && roles.includes(role) ? [{ pid, command, role }] : [];
      });
    },
    watch(promoted) {
      let last: string | undefined;
      let lastPid: number | undefined;
      const look = (): void => {
        const now = inode();
        if (now === last) return;
        const pid = now === undefined ? undefined : host();
        // Gone again before it had a name: the next look tells.
        if (now !== undefined && pid === undefined) return;
        last = now;
        if (pid !== undefined && pid !== lastPid) promoted(pid);
        lastPid = pid;
      };
      const timer = setInterval(look, LOOK_MS);
      return () => clearInterval(timer);
    },
  };
}
