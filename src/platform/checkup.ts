// What may a check of this machine look at, besides the world? Modes, room, versions of programs, the platform itself.
import { accessSync, chmodSync, constants, existsSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { Whereabouts } from "../protocol/whereabouts.ts";
import { commandPath } from "./agent-child.ts";
import type { ProcessMark } from "./agent-world.ts";
import { freeBytes } from "./disk.ts";
import { findBrowser } from "./find-browser.ts";
import { hasModes } from "./private.ts";
import { isDead } from "./processes.ts";
import { AGENT_TAG, sweepTagged } from "./tagged.ts";
import { whereabouts } from "./whereabouts.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface Entry {
  path: string;
  directory: boolean;
  /** Of its rights. */
  mode: number;
  link: boolean;
  ours: boolean;
}

export interface Checkup {
  readonly platform: string;
  readonly arch: string;
  readonly bun: string;
  /** The directory itself and all that is in it; none when it is not there, or where there are no modes. */
  entries(directory: string): Entry[];
  chmod(path: string, mode: number): void;
  /** Where the directory is, or would be made. */
  freeBytes(directory: string): number;
  /** As there. */
  isWritable(directory: string): boolean;
  findCommand(command: string, path: string): string | undefined;
  findBrowser(env: Env): string | undefined;
  /** The first line it says to `--version`; undefined when it says none within the limit. */
  versionOf(command: string, env: Readonly<Record<string, string>>, timeoutMs: number): Promise<string | undefined>;
  /** Or cannot be looked at. */
  isAlive(mark: ProcessMark): boolean;
  readonly here: Whereabouts | undefined;
}

const VERSION_CHARACTERS = 100;

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Whoever may not look may not write either, and that is told.
    return undefined;
  }
}

function entryAt(path: string): Entry | undefined {
  const stat = lookAt(path);
  if (!stat) return undefined;
  return {
    path,
    directory: stat.isDirectory(),
    mode: stat.mode & 0o777,
    link: stat.isSymbolicLink(),
    ours: stat.uid === process.getuid?.(),
  };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Gone meanwhile, or not ours to read, which its entry tells.
    return [];
  }
}

function entries(path: string): Entry[] {
  const entry = hasModes ? entryAt(path) : undefined;
  if (!entry) return [];
  return entry.directory ? [entry, ...namesIn(path).flatMap((name) => entries(join(path, name)))] : [entry];
}

const nearestExisting = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function versionOf(command: string, env: Readonly<Record<string, string>>, timeoutMs: number) {
  const tag = crypto.randomUUID();
  const child = Bun.spawn([command, "--version"], {
    env: { ...env, [AGENT_TAG]: tag },
    cwd: "/",
    detached: true,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const said = new Response(child.stdout).text().catch(() => "");
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, timeoutMs);
  // The timer would keep the whole process, long after the answer.
  const text = await Promise.race([said, late.promise]).finally(() => clearTimeout(timer));
  if (text === undefined) {
    // A wrapper's child must not outlive the look either.
    child.kill("SIGKILL");
    sweepTagged(tag);
  }
  await child.exited;
  const line = text?.split("\n").find((each) => /\d/.test(each));
  return line?.trim().slice(0, VERSION_CHARACTERS);
}

export const systemCheckup: Checkup = {
  platform: process.platform,
  arch: process.arch,
  bun: Bun.version,
  entries,
  chmod: chmodSync,
  freeBytes: (directory) => freeBytes(nearestExisting(directory)),
  isWritable: (directory) => isWritable(nearestExisting(directory)),
  findCommand: commandPath,
  findBrowser,
  versionOf: (command, env, timeoutMs) => versionOf(command, env, timeoutMs).catch(() => undefined),
  isAlive: (mark) => !isDead(mark),
  here: whereabouts(),
};
