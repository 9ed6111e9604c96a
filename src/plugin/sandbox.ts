// Who runs scripts and queries, in which order, and what happens to those that never come back?
// One at a time. A thread that fails its call is replaced by a fresh one, and the calls behind it go on there.

import type { Clock } from "../platform/world.ts";
import type { LogEntry } from "../protocol/plugin.ts";
import { createLogBuffer, LOG_CAPACITY, type LogBuffer } from "./log-buffer.ts";
import { type CallEnd, type SandboxThread, startThread } from "./sandbox-thread.ts";
import type { DataModelQuery, Failure, QueryAnswer, RunAnswer, SandboxRequest } from "./sandbox-wire.ts";

/** `output` holds the newest entries of this run; `outputDropped` is how many older ones did not fit. */
export type RunResult = RunAnswer & { output: LogEntry[]; outputDropped: number };

export interface Sandbox {
  execute(script: string, deadlineMs: number): Promise<RunResult>;
  query(query: DataModelQuery, deadlineMs: number): Promise<QueryAnswer>;
  /** Something runs or waits. */
  readonly busy: boolean;
  end(): void;
}

export interface SandboxOptions {
  clock: Clock;
  onLog(entry: LogEntry): void;
  /** A script starts or stops running. Queries are not told. */
  onRunning?(running: boolean): void;
}

const FRESH = "the session goes on with fresh state";

export function createSandbox({ clock, onLog, onRunning }: SandboxOptions): Sandbox {
  let thread: SandboxThread | undefined;
  let output: LogBuffer | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let calls = 0;
  let ended = false;

  function log(entry: LogEntry): void {
    output?.add(entry);
    onLog(entry);
  }
  const warn = (body: string) => log({ level: "Warning", body, timestamp: clock.now() / 1000 });

  const openThread = (): SandboxThread =>
    startThread({
      clock,
      onLog: log,
      onIdleExit(exitCode) {
        thread = undefined;
        warn(`Code left running by an earlier script ended the sandbox with exit code ${exitCode}; ${FRESH}`);
      },
    });

  async function perform(request: SandboxRequest, deadlineMs: number): Promise<RunAnswer | QueryAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      if (ended) return failure({ kind: "ended" }, request, deadlineMs);
      thread ??= openThread();
      const current = thread;
      await current.settled;
      if (request.kind === "run") onRunning?.(true);
      const end = await current.call(request, deadlineMs);
      if (request.kind === "run") onRunning?.(false);
      if (end.kind === "answered") return end.answer;
      thread = undefined;
      if (attempt > 1 || !("started" in end) || end.started) return failure(end, request, deadlineMs);
      const deed = end.kind === "late" ? "blocked the sandbox and was ended" : "ended the sandbox";
      warn(`Code left running by an earlier script ${deed}; ${FRESH}`);
    }
  }

  function enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    calls += 1;
    const result = last.then(work).finally(() => {
      calls -= 1;
    });
    last = result.catch(() => undefined);
    return result;
  }

  return {
    execute: (script, deadlineMs) =>
      enqueue(async () => {
        const buffer = createLogBuffer();
        output = buffer;
        const answer = (await perform({ kind: "run", script }, deadlineMs)) as RunAnswer;
        output = undefined;
        return { ...answer, output: buffer.query({ count: LOG_CAPACITY }).entries, outputDropped: buffer.dropped };
      }),
    query: (query, deadlineMs) =>
      enqueue(async () => (await perform({ kind: "query", query }, deadlineMs)) as QueryAnswer),
    get busy() {
      return calls > 0;
    },
    end() {
      ended = true;
      thread?.end();
      thread = undefined;
    },
  };
}

function failure(end: Exclude<CallEnd, { kind: "answered" }>, request: SandboxRequest, deadlineMs: number): Failure {
  const what = request.kind === "run" ? "script" : "query";
  const fail = (code: string, error: string): Failure => ({ success: false, code, error });
  switch (end.kind) {
    case "late":
      return fail("SCRIPT_DEADLINE", `The ${what} ran longer than ${deadlineMs} ms and was ended; ${FRESH}`);
    case "exited":
      return fail("SCRIPT_EXITED", `The ${what} ended its own thread with exit code ${end.exitCode}; ${FRESH}`);
    case "broken":
      return fail("INTERNAL_ERROR", `The sandbox thread did not start: ${end.why}`);
    case "ended":
      return fail("SESSION_ENDED", `The plugin ended before the ${what} did`);
  }
}
