// In which world do tests run? One machine with a clock of its own, a loopback, a disk, and processes that can die.
import { systemSecrets } from "../../src/platform/secrets.ts";
import type { World } from "../../src/platform/world.ts";
import { createDice, type Dice } from "./dice.ts";
import { createFakeFiles, type FakeFiles } from "./fake-files.ts";
import { createLoopback, type Loopback } from "./fake-net.ts";
import { createLife, type ProcessLife } from "./fake-process.ts";
import { createVirtualTime, type VirtualTime } from "./virtual-time.ts";

export interface LogLine {
  level: "info" | "warn";
  message: string;
  data: Record<string, unknown> | undefined;
}

export interface FakeProcess extends Omit<ProcessLife, "kill"> {
  readonly world: World;
  readonly log: readonly LogLine[];
  /** The error code of every further bind; undefined: binds as usual. */
  bindFails: string | undefined;
  /** `lingerMs`: how long the kernel keeps the port after the sockets closed. */
  kill(options?: { lingerMs?: number }): void;
}

export interface Machine extends Pick<VirtualTime, "advance" | "until" | "wait" | "plan"> {
  readonly now: number;
  readonly dice: Dice;
  readonly files: FakeFiles;
  readonly holder: Loopback["holder"];
  /** `files`: another user's disk. */
  process(options?: { files?: FakeFiles }): FakeProcess;
  /** Its wall clock is put forward, or back; what is measured by it jumps, and what has elapsed does not. */
  turnClock(byMs: number): void;
}

export interface MachineOptions {
  seed?: number;
  latencyMs?: (dice: Dice) => number;
  connectMs?: (dice: Dice) => number;
}

const FIRST_PID = 1_000;

export function createMachine({ seed = 1, latencyMs = () => 0.1, connectMs = () => 0 }: MachineOptions = {}): Machine {
  const dice = createDice(seed);
  const time = createVirtualTime();
  const files = createFakeFiles();
  const loopback = createLoopback({ time, latencyMs: () => latencyMs(dice), connectMs: () => connectMs(dice) });
  let pids = FIRST_PID;
  let ids = 0;
  let wallOffMs = 0;

  const newId = (): string => {
    const digits = dice.hex(8);
    return `${digits}-0000-4000-8000-${(++ids).toString(16).padStart(12, "0")}`;
  };

  return {
    get now() {
      return time.now;
    },
    dice,
    files,
    holder: loopback.holder,
    plan: time.plan,
    advance: time.advance,
    until: time.until,
    wait: time.wait,
    turnClock(byMs) {
      wallOffMs += byMs;
    },
    process(options = {}) {
      const life = createLife(time, ++pids, () => wallOffMs);
      const log: LogLine[] = [];
      let lingerMs = 0;
      const fake: FakeProcess = {
        pid: life.pid,
        get state() {
          return life.state;
        },
        clock: life.clock,
        log,
        bindFails: undefined,
        enter: life.enter,
        freeze: life.freeze,
        thaw: life.thaw,
        onDeath: life.onDeath,
        kill(how = {}) {
          lingerMs = how.lingerMs ?? 0;
          life.kill();
        },
        world: {
          clock: life.clock,
          random: dice.roll,
          newId,
          pid: life.pid,
          net: loopback.netOf(
            life,
            () => fake.bindFails,
            () => lingerMs,
          ),
          files: options.files ?? files,
          secrets: { ...systemSecrets, nonce: () => dice.hex(64) },
          log: {
            info: (message, data) => void log.push({ level: "info", message, data }),
            warn: (message, data) => void log.push({ level: "warn", message, data }),
          },
          onBug: () => () => {},
        },
      };
      return fake;
    },
  };
}
