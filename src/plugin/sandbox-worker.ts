// What happens in the sandbox's own thread? It answers one request after the other over a private port.
// No wall against malice: scripts have the rights of their user. The thread keeps endless and broken ones apart.
import { createRequire } from "node:module";
import type { LogLevel } from "../protocol/plugin.ts";
import { createConsole, lineWriter } from "./sandbox-console.ts";
import { tellError } from "./sandbox-errors.ts";
import { createGlobals } from "./sandbox-globals.ts";
import { queryObjects } from "./sandbox-query.ts";
import { createRunner } from "./sandbox-run.ts";
import { clip } from "./sandbox-values.ts";
import {
  CALL,
  GAUGE,
  logCost,
  MAX_LOGS_WAITING,
  type QueryAnswer,
  type RunAnswer,
  type SandboxMessage,
  type SandboxRequest,
  type SandboxStart,
} from "./sandbox-wire.ts";

const MAX_BODY = 1024 * 1024;

function start({ port, gauge }: SandboxStart): void {
  // Bound now: what user code does to the prototypes later does not divert our messages.
  const send: (message: SandboxMessage) => void = port.postMessage.bind(port);
  const now = Date.now;
  const { add, compareExchange, load, wait } = Atomics;

  const emit = (level: LogLevel, body: string) => {
    const entry = { level, body: clip(body, MAX_BODY), timestamp: now() / 1000 };
    send({ kind: "log", entry });
    add(gauge, GAUGE.logsWaiting, logCost(entry));
    for (let waiting = load(gauge, GAUGE.logsWaiting); waiting > MAX_LOGS_WAITING; ) {
      wait(gauge, GAUGE.logsWaiting, waiting, 50);
      waiting = load(gauge, GAUGE.logsWaiting);
    }
  };

  const require = createRequire(`${process.cwd()}/`);
  Object.assign(globalThis, { console: createConsole(emit), require });
  Object.defineProperty(process, "stdout", { value: lineWriter("Print", emit) });
  Object.defineProperty(process, "stderr", { value: lineWriter("Warning", emit) });
  // Nobody reads what is posted there, so it would pile up.
  Reflect.deleteProperty(globalThis, "postMessage");
  // These would read the plugin's own stdin, and a thread that waits there cannot be ended.
  for (const name of ["alert", "confirm", "prompt"]) Reflect.deleteProperty(globalThis, name);

  process.on("uncaughtException", (error) => emit("Error", `Uncaught ${tellError(error)}`));
  process.on("unhandledRejection", (reason) => emit("Error", `Unhandled rejection: ${tellError(reason)}`));

  const globals = createGlobals();
  const run = createRunner({
    topLevel: globals.saw,
    importModule: (specifier) => import(Bun.resolveSync(specifier, process.cwd())),
  });

  async function answer(request: SandboxRequest): Promise<RunAnswer | QueryAnswer> {
    try {
      return request.kind === "run" ? await run(request.script) : queryObjects(request.query, globals);
    } catch (error) {
      return { success: false, code: "INTERNAL_ERROR", error: `The sandbox failed: ${tellError(error)}` };
    }
  }

  port.onmessage = (event) => {
    if (compareExchange(gauge, GAUGE.call, CALL.offered, CALL.started) !== CALL.offered) return;
    void answer(event.data as SandboxRequest).then((result) => send({ kind: "answer", answer: result }));
  };
  send({ kind: "ready" });
}

addEventListener("message", ({ data }: MessageEvent<SandboxStart>) => start(data), { once: true });
