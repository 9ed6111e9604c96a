// When does a client hear a line? A command that follows a turn of one line each millisecond, its stdout with times.
import { portOwner } from "../../../src/platform/port-owner.ts";
import { until, type Yard } from "../support/yard.ts";

export interface StreamClient {
  /** From this moment to the line that ends the first long silence after it. */
  gapAfter(sinceMs: number): Promise<number>;
  end(): Promise<void>;
}

const LINES = 10_000_000;
const EVERY_MS = 1;
/** So much flow behind a silence proves that it is over. */
const FLOWING_LINES = 30;

export async function startStream(yard: Yard, command: readonly string[]): Promise<StreamClient> {
  const [binary = "", ...flags] = command;
  const words = ["prompt", "demo", `stream ${LINES} ${EVERY_MS}`, "--session", "stream", "--json"];
  const child = Bun.spawn([binary, ...words, ...flags], {
    env: yard.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const end = (): void => child.kill("SIGKILL");
  yard.over.addEventListener("abort", end, { once: true });
  const heardAt: number[] = [];
  const read = (async () => {
    for await (const _ of child.stdout) heardAt.push(performance.now());
  })();
  await until(
    () => (heardAt.length > FLOWING_LINES ? true : undefined),
    () => "the first lines of a stream",
  );
  return {
    async gapAfter(sinceMs) {
      const silences = (): { ms: number; endsAt: number; behind: number }[] => {
        const later = heardAt.slice(heardAt.findLastIndex((at) => at <= sinceMs) + 1);
        return later.map((at, index) => ({
          ms: at - (later[index - 1] ?? sinceMs),
          endsAt: at,
          behind: later.length - index,
        }));
      };
      // On a busy machine another silence may be as long: it is the first of the long ones.
      const found = (): { ms: number; endsAt: number; behind: number } => {
        const all = silences();
        const longest = Math.max(0, ...all.map(({ ms }) => ms));
        return all.find(({ ms }) => ms >= longest / 2) ?? { ms: 0, endsAt: sinceMs, behind: 0 };
      };
      // A silence that is still going on has nothing behind it.
      const isOver = () => {
        const now = performance.now();
        const { ms, behind } = found();
        return behind > FLOWING_LINES && now - sinceMs > 4 * ms && now - sinceMs > 100 ? true : undefined;
      };
      await until(isOver, () => "lines after a death");
      return found().endsAt - sinceMs;
    },
    async end() {
      end();
      await child.exited;
      await read;
      yard.over.removeEventListener("abort", end);
    },
  };
}

/** Whoever holds the port now. */
export const hostOf = (port: number): Promise<number> =>
  until(
    () => portOwner(port)?.pid,
    () => `a host on port ${port}`,
  );

/** Ends the host and every agent of this port, however the benchmark ends. */
export function createBroom(yard: Yard, binary: string, port: number): () => Promise<void> {
  const command = [binary, "stop", "--agents", "--port", String(port)];
  const swept = (): void =>
    void Bun.spawnSync(command, { env: yard.env, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  yard.over.addEventListener("abort", swept, { once: true });
  return async () => {
    yard.over.removeEventListener("abort", swept);
    swept();
  };
}
