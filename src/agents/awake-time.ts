// What time is it for somebody who only counts waking hours? It ticks always: a sleep shows only against a planned tick.
import { type Awake, awakeAt, nextTick, TICK_MS } from "../core/awake.ts";
import { type AwakeRecord, awakeMsAt, isAwakeRecord, later, nextHost } from "../core/awake-record.ts";
import type { Cancel, Clock, Files } from "../platform/world.ts";

export interface AwakeTime {
  now(): number;
  /** How long ago that was; an earlier host may have written it. */
  since(iso: string): number;
  /** Something changed: `nextDue` is asked again. */
  plan(): void;
  end(): void;
}

/** Where the time is written down, so that the next host counts on. */
export interface AwakeFile {
  read(): string | undefined;
  keep(text: string): void;
}

export const awakeFile = (files: Files, directory: string): AwakeFile => ({
  read: () => files.readPrivate(`${directory}/awake.json`),
  keep(text) {
    files.directory(directory);
    files.replace(`${directory}/awake.json`, text);
  },
});

export interface AwakeTimeDeps {
  clock: Clock;
  file?: AwakeFile;
  nextDue(): number;
  tick(now: number): void;
  /** Whether anybody's time is counted. */
  isCounting(): boolean;
}

function readRecord(file: AwakeFile | undefined): AwakeRecord | undefined {
  try {
    const read: unknown = JSON.parse(file?.read() ?? "null");
    return isAwakeRecord(read) ? read : undefined;
  } catch {
    // Broken, or nobody may read it: then the counting begins anew, and nobody is judged too soon.
    return undefined;
  }
}

export function createAwakeTime({ clock, file, nextDue, tick, isCounting }: AwakeTimeDeps): AwakeTime {
  let record = nextHost(readRecord(file), clock.now());
  let awake: Awake = { sumMs: record.end.awakeMs, since: clock.elapsed(), plannedMs: 0 };
  let writtenMs = Number.NEGATIVE_INFINITY;
  let cancel: Cancel = () => {};
  let over = false;

  const now = (): number => awakeAt(awake, clock.elapsed());
  /** Written once a tick while somebody's time is counted: whoever dies has lost one tick of it at most. */
  const write = (awakeMs: number): number => {
    if (!file || (awakeMs >= writtenMs + TICK_MS && !isCounting())) return Number.POSITIVE_INFINITY;
    if (awakeMs < writtenMs + TICK_MS) return writtenMs + TICK_MS;
    writtenMs = awakeMs;
    record = later(record, { at: clock.now(), awakeMs });
    try {
      file.keep(JSON.stringify(record));
    } catch {
      // A full disk: then the next host counts less.
    }
    return writtenMs + TICK_MS;
  };
  const plan = (): void => {
    cancel();
    if (over) return;
    const writeAt = write(now());
    awake = nextTick(awake, clock.elapsed(), Math.min(nextDue(), writeAt));
    cancel = clock.after(awake.plannedMs, () => {
      tick(now());
      plan();
    });
  };
  return {
    now,
    since(iso) {
      const at = clock.now();
      const current = later(record, { at, awakeMs: now() });
      return Math.max(0, current.end.awakeMs - awakeMsAt(current, at - clock.since(iso)));
    },
    plan,
    end() {
      over = true;
      cancel();
    },
  };
}
