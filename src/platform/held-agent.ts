// How does an agent run so that nothing of it passes through a process that can die? Its output goes straight to
// files; its input is a FIFO that a third process holds open, so that the end of its keeper is not the end of its input.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { AgentExit, HeldAgent, HeldCommand, HeldMarks } from "./agent-world.ts";
import { isAlive, isDead, kill, markOf } from "./processes.ts";
import { createStrays, type Kin } from "./strays.ts";
import { AGENT_TAG, sweepTagged } from "./tagged.ts";
import type { Clock } from "./world.ts";

/** As long as the agent is there and no longer, whoever else dies. What it waits with must not hold the FIFO too. */
const HOLD = 'while kill -0 "$0" 2>/dev/null; do env -i PATH="$PATH" sleep 5 </dev/null; done';
const ERR_BYTES = 1024 * 1024;
const ERR_KEPT_BYTES = 64 * 1024;
const FULL_MS = 1;
const LOOK_MS = 25;
const UNKNOWN: AgentExit = { code: null, signal: null };

const fifoOf = (directory: string): string => join(directory, "in");
const errOf = (directory: string): string => join(directory, "err");

interface Input {
  write(text: string): Promise<void>;
  close(): void;
}

/** Never blocks: an agent that does not read must not stop its keeper from hearing of its end. */
function openInput(clock: Clock, directory: string): Input {
  let fd: number | undefined = openSync(fifoOf(directory), constants.O_RDWR | constants.O_NONBLOCK);
  return {
    async write(text) {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length && fd !== undefined; ) {
        try {
          done += writeSync(fd, bytes, done);
        } catch (thrown) {
          if ((thrown as { code?: string }).code !== "EAGAIN") throw thrown;
          await clock.sleep(FULL_MS);
        }
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

/** Cutting a file that others append to is safe: they go on at its new end. */
function cutErrors(directory: string): void {
  const fd = openSync(errOf(directory), constants.O_RDWR | constants.O_APPEND);
  try {
    const { size } = fstatSync(fd);
    if (size <= ERR_BYTES) return;
    const tail = Buffer.alloc(ERR_KEPT_BYTES);
    const read = readSync(fd, tail, 0, ERR_KEPT_BYTES, size - ERR_KEPT_BYTES);
    ftruncateSync(fd, 0);
    writeSync(fd, tail, 0, read);
  } finally {
    closeSync(fd);
  }
}

const NO_KIN: Kin = { strays: [], subreaper: undefined };

function held(
  clock: Clock,
  directory: string,
  tag: string,
  marks: HeldMarks,
  exited: Promise<AgentExit>,
  kin: Kin,
): HeldAgent {
  const strays = createStrays(tag, marks, kin);
  const input = openInput(clock, directory);
  const closeInput = (): void => {
    input.close();
    // With what it waits with, which nobody would find afterwards.
    if (isAlive(marks.holder)) kill(-marks.holder.pid, "SIGKILL");
  };
  void exited.then(closeInput);
  return {
    ...marks,
    exited,
    write: input.write,
    closeInput,
    signalGroup: (signal) => void kill(-marks.agent.pid, signal),
    sweep: () => sweepTagged(tag) + strays.sweep(),
    strays: strays.look,
    cutErrors: () => cutErrors(directory),
  };
}

export function startHeld(
  clock: Clock,
  directory: string,
  { command, args, env, cwd, tag }: HeldCommand,
  kin: Kin = NO_KIN,
): HeldAgent {
  if (existsSync(fifoOf(directory))) {
    // An earlier keeper died in the middle of this, and what it had started is on no record.
    sweepTagged(tag);
    rmSync(fifoOf(directory), { force: true });
  }
  const made = Bun.spawnSync(["mkfifo", "-m", "600", fifoOf(directory)], { stdio: ["ignore", "ignore", "pipe"] });
  if (made.exitCode !== 0) throw new Error(`No FIFO could be made: ${made.stderr.toString().trim()}`);
  // Opened for both, or opening it for one would wait for the other. The runtime changes flags of what it hands on:
  // the keeper writes through an opening of its own.
  const both = openSync(fifoOf(directory), constants.O_RDWR);
  const input = openSync(fifoOf(directory), constants.O_RDONLY);
  const out = openSync(join(directory, "out"), "a", 0o600);
  const err = openSync(errOf(directory), "a", 0o600);
  try {
    const tagged = { ...env, [AGENT_TAG]: tag };
    const started = Bun.spawn([command, ...args], {
      cwd,
      env: tagged,
      detached: true,
      stdin: input,
      stdout: out,
      stderr: err,
    });
    const holder = Bun.spawn(["/bin/sh", "-c", HOLD, String(started.pid)], {
      env: { PATH: "/usr/bin:/bin", ...tagged },
      cwd: "/",
      detached: true,
      stdin: both,
      stdout: "ignore",
      stderr: "ignore",
    });
    const marks = { agent: markOf(started.pid), holder: markOf(holder.pid) };
    const exited = started.exited.then(() => ({ code: started.exitCode, signal: started.signalCode as string | null }));
    return held(clock, directory, tag, marks, exited, kin);
  } finally {
    for (const fd of [both, input, out, err]) closeSync(fd);
  }
}

/** Its keeper is gone, it is not: only how it ends is nobody's to know any more. */
export function adoptHeld(
  clock: Clock,
  directory: string,
  tag: string,
  marks: HeldMarks,
  kin: Kin = NO_KIN,
): HeldAgent {
  const gone = async (): Promise<AgentExit> => {
    while (!isDead(marks.agent)) await clock.sleep(LOOK_MS);
    return UNKNOWN;
  };
  return held(clock, directory, tag, marks, gone(), kin);
}
