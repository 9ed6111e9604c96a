// How does one sandbox thread live? It gets ready, takes one call at a time, and is over at the first call that it does not
// answer: too late, left by `process.exit`, or ended by us. Nothing but its death stops a synchronous loop.

import type { Clock } from "../platform/world.ts";
import type { LogEntry } from "../protocol/plugin.ts";
import {
  CALL,
  GAUGE,
  logCost,
  type QueryAnswer,
  type RunAnswer,
  type SandboxMessage,
  type SandboxRequest,
  type SandboxStart,
} from "./sandbox-wire.ts";

const START_MS = 30_000;
/** With `MAX_LOGS_WAITING` this lets some 12 MB of logs through in a second, which every reader can follow. */
const LET_GO_MS = 20;

export type CallEnd =
  | { kind: "answered"; answer: RunAnswer | QueryAnswer }
  /** A call that did not start never will, and may be given to another thread. */
  | { kind: "late"; started: boolean }
  | { kind: "exited"; exitCode: number; started: boolean }
  | { kind: "broken"; why: string }
  | { kind: "ended" };

export interface SandboxThread {
  /** Resolves when it can take calls, and also when it never will. */
  readonly settled: Promise<void>;
  call(request: SandboxRequest, deadlineMs: number): Promise<CallEnd>;
  end(): void;
}

export interface ThreadOptions {
  clock: Clock;
  onLog(entry: LogEntry): void;
  /** The thread is over although nobody asked anything of it. */
  onIdleExit(exitCode: number): void;
}

/** A compiled binary has this module in a chunk at its root, and the entry points below it as they are below `src`. */
const threadUrl = (): string =>
  import.meta.url.endsWith("/plugin/sandbox-thread.ts")
    ? new URL("./sandbox-worker.ts", import.meta.url).href
    : new URL("./plugin/sandbox-worker.ts", import.meta.url).href;

export function startThread({ clock, onLog, onIdleExit }: ThreadOptions): SandboxThread {
  const gauge = new Int32Array(new SharedArrayBuffer(8));
  const ready = Promise.withResolvers<void>();
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(threadUrl());
  let life: { state: "starting" } | { state: "ready" } | { state: "over"; end: CallEnd } = { state: "starting" };
  let settle: ((end: CallEnd) => void) | undefined;
  let lastError = "";
  let logsRead = 0;
  let cancelLetGo = () => {};

  function stop(end: CallEnd): void {
    if (life.state === "over") return;
    life = { state: "over", end };
    cancelStart();
    cancelLetGo();
    port1.close();
    worker.terminate();
    ready.resolve();
    settle?.(end);
  }

  function letGo(): void {
    Atomics.sub(gauge, GAUGE.logsWaiting, logsRead);
    Atomics.notify(gauge, GAUGE.logsWaiting);
    logsRead = 0;
  }

  const started = () => Atomics.compareExchange(gauge, GAUGE.call, CALL.offered, CALL.withdrawn) !== CALL.offered;
  const cancelStart = clock.after(START_MS, () =>
    stop({ kind: "broken", why: `it was not ready within ${START_MS} ms` }),
  );

  worker.addEventListener("error", (event) => {
    event.preventDefault();
    lastError = event.message;
  });
  worker.addEventListener("close", (event) => {
    if (life.state === "over") return;
    const exitCode = (event as CloseEvent).code;
    if (life.state === "starting") return stop({ kind: "broken", why: lastError || `it ended with code ${exitCode}` });
    if (!settle) onIdleExit(exitCode);
    stop({ kind: "exited", exitCode, started: started() });
  });

  port1.onmessage = (event) => {
    const data = event.data as SandboxMessage;
    if (life.state === "over") return;
    if (data.kind === "answer") settle?.({ kind: "answered", answer: data.answer });
    else if (data.kind === "log") {
      if (logsRead === 0) cancelLetGo = clock.after(LET_GO_MS, letGo);
      logsRead += logCost(data.entry);
      onLog(data.entry);
    } else {
      life = { state: "ready" };
      cancelStart();
      ready.resolve();
    }
  };
  worker.postMessage({ port: port2, gauge } satisfies SandboxStart, [port2]);

  return {
    settled: ready.promise,
    call(request, deadlineMs) {
      return new Promise((resolve) => {
        if (life.state === "over") return resolve("started" in life.end ? { ...life.end, started: false } : life.end);
        Atomics.store(gauge, GAUGE.call, CALL.offered);
        const cancel = clock.after(deadlineMs, () => stop({ kind: "late", started: started() }));
        settle = (end) => {
          settle = undefined;
          cancel();
          resolve(end);
        };
        port1.postMessage(request);
      });
    },
    end: () => stop({ kind: "ended" }),
  };
}
