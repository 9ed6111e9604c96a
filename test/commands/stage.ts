// How is a command run in a test? As the program runs it, in front of the real service, with agents and time in memory.
import type { BridgeConnection, ConnectionEvents } from "../../src/bridge/connection.ts";
import type { Context, HoldfastCommand } from "../../src/commands/context.ts";
import { createEmitter } from "../../src/core/emitter.ts";
import type { AgentRequest } from "../../src/protocol/agents.ts";
import { exitCodeOf } from "../../src/surface/exit-codes.ts";
import { parseArgs } from "../../src/surface/flags.ts";
import { createPrinter } from "../../src/surface/print.ts";
import { ENV, openService, type ServiceOptions, type ServiceWorld } from "../agents/service-world.ts";
import { fakeOutput, onTerminal } from "../surface/fakes.ts";

export interface RunOptions {
  /** Somebody sits there; these are the lines typed, in order; undefined: Ctrl-D. */
  typed?: (string | undefined)[];
  stdin?: string;
  /** As on Windows. */
  hasKeepers?: false;
  /** What a program with the person's terminal ends with. */
  inTerminal?(command: readonly string[], env: Readonly<Record<string, string>>): number;
  /** Connecting takes for ever. */
  neverConnects?: true;
}

export interface Running {
  readonly asked: AgentRequest[];
  /** Undefined while it runs. */
  readonly code: number | undefined;
  readonly thrown: unknown;
  out(): string;
  err(): string;
  /** Lines of JSON mode. */
  events(): { seq: number; from?: number; at: string; type: string; data: Record<string, unknown> }[];
  interrupt(): void;
  /** Runs on until it has ended. */
  wait(limitMs?: number): number;
  /** What the command's connection tells; a test may tell more. */
  tell<Name extends keyof ConnectionEvents>(name: Name, data: ConnectionEvents[Name]): void;
  /** Answers in place of the host, until it returns undefined. */
  answer(with_: (request: AgentRequest) => Promise<unknown> | undefined): void;
}

export interface Stage extends ServiceWorld {
  run(command: HoldfastCommand, words: readonly string[], options?: RunOptions): Running;
}

let clients = 0;

export function openStage(options: ServiceOptions = {}): Stage {
  const world = openService(options);
  return { ...world, run: (command, words, how) => start(world, command, words, how ?? {}) };
}

function start(world: ServiceWorld, command: HoldfastCommand, words: readonly string[], options: RunOptions): Running {
  const { machine, service } = world;
  const process = machine.process();
  const args = parseArgs(command, words, {});
  const output = fakeOutput(options.typed ? onTerminal : {});
  const interrupt = new AbortController();
  const clientId = `command-${++clients}`;
  const emitter = createEmitter<ConnectionEvents>((thrown) => {
    throw thrown;
  });
  const asked: AgentRequest[] = [];
  let answer: (request: AgentRequest) => Promise<unknown> | undefined = () => undefined;
  const events = (session: string, records: never[]) => emitter.emit("agent-events", { session, events: records });
  let isConnected = true;
  let ended: ConnectionEvents["ended"] | undefined;
  emitter.on("host-lost", () => {
    isConnected = false;
  });
  emitter.on("host-found", () => {
    isConnected = true;
  });
  emitter.on("ended", (how) => {
    ended = how;
  });
  const connection = {
    role: "client",
    hostPid: 1,
    get isConnected() {
      return isConnected;
    },
    get ended() {
      return ended;
    },
    on: emitter.on,
    listSessions: () => [],
    askAgents(request: AgentRequest) {
      asked.push(request);
      return answer(request) ?? service.asked({ clientId, events: events as never }, request);
    },
    async status() {
      const lost = answer({ verb: "sessions" });
      await lost;
      return { pid: 1, port: 1, clients: [], sessions: [], addresses: [], auth: "token", version: "0" };
    },
    async stopHost() {
      emitter.emit("ended", { error: undefined });
      return { pid: 1 };
    },
    acknowledge: (session: string, seq: number) => service.acknowledged(clientId, session, seq),
  } as unknown as BridgeConnection;
  const typed = [...(options.typed ?? [])];
  const context = {
    world: process.world,
    env: ENV,
    plainEnv: ENV,
    printer: createPrinter({ terminal: output, format: args.format, clock: process.clock }),
    signal: interrupt.signal,
    open: () => (options.neverConnects ? new Promise(() => {}) : Promise.resolve(connection)),
    absolute: (path: string) => (path.startsWith("/") ? path : "/work"),
    isDirectory: () => true,
    readStdin: async () => options.stdin ?? "",
    room: () => Promise.resolve(),
    isInteractive: options.typed !== undefined,
    readLine: (signal: AbortSignal) =>
      new Promise<string | undefined>((resolve) => {
        if (typed.length > 0) return resolve(typed.shift());
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
      }),
    runInTerminal: async (command: readonly string[], env: Readonly<Record<string, string>>) =>
      options.inTerminal?.(command, env) ?? 0,
    killProcess() {},
    isRunning: () => false,
    state: { portDirectory: () => "/state/ports/1" },
    hasKeepers: options.hasKeepers ?? true,
    config: async () => ({ agents: {} }),
    startBackgroundHost() {},
  } as unknown as Context;
  let over: { code: number; thrown?: unknown } | undefined;
  void command
    .run(args, context)
    .then(
      (code) => ({ code }),
      // As app.ts does: whatever fails after one's own signal is the signal's.
      (thrown: unknown) => ({ code: interrupt.signal.aborted ? 130 : exitCodeOf(thrown), thrown }),
    )
    .then((how) => {
      over = how;
      service.left(clientId);
    });
  return {
    asked,
    get code() {
      return over?.code;
    },
    get thrown() {
      return over?.thrown;
    },
    out: output.stdout,
    err: output.stderr,
    events: () =>
      output
        .stdout()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    interrupt: () => interrupt.abort("SIGINT"),
    wait(limitMs) {
      machine.until(() => over !== undefined, limitMs);
      return over?.code ?? -1;
    },
    tell: emitter.emit,
    answer(with_) {
      answer = with_;
    },
  };
}
