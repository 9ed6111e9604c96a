// What does an MCP client ask, and how is it answered? Tools are commands; their faults are results that say so.
import type { Clock } from "../../platform/world.ts";
import { messageOf } from "../../protocol/fault.ts";
import { isRecord, isText } from "../../protocol/guards.ts";
import { RPC, type RpcId } from "../../protocol/json-rpc.ts";
import { VERSION } from "../../protocol/version.ts";
import { createRpcPeer, RpcFailure } from "../../rpc/json-rpc.ts";
import type { Called, CallOptions } from "../context.ts";
import { resultOf } from "./result.ts";

export interface Tools {
  list(): Promise<object[]>;
  has(name: string): boolean;
  call(
    name: string,
    values: Readonly<Record<string, unknown>>,
    how: Pick<CallOptions, "signal" | "showPicture">,
  ): Promise<Called>;
}

export interface McpServerDeps {
  clock: Clock;
  tools: Tools;
  write(line: string): void;
  note(text: string): void;
}

export interface McpServer {
  receive(line: string): void;
  /** Takes back what still runs; resolves when it has ended. */
  end(): Promise<void>;
}

/** The newest first. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
const PROGRESS_MS = 5_000;
const INSTRUCTIONS =
  "Drives app plugins, coding agents and browsers through the holdfast bridge. sessions lists what is connected, agents what can be prompted. A long prompt: give detach, then read its session from `next` on.";

type Params = Record<string, unknown>;

export function createMcpServer({ clock, tools, write, note }: McpServerDeps): McpServer {
  const running = new Map<string, { over: AbortController; done: Promise<unknown> }>();

  const call = async (params: Params, over: AbortController): Promise<object> => {
    const { name, arguments: values = {}, _meta: meta } = params;
    if (!isText(name) || !tools.has(name))
      throw new RpcFailure({ code: RPC.invalidParams, message: `Unknown tool: ${String(name)}` });
    if (!isRecord(values)) throw new RpcFailure({ code: RPC.invalidParams, message: '"arguments" is no object' });
    const stop = tellProgress(isRecord(meta) ? meta["progressToken"] : undefined);
    const pictures: { bytes: Uint8Array; mimeType: string }[] = [];
    try {
      const showPicture = (bytes: Uint8Array, mimeType: string): void => void pictures.push({ bytes, mimeType });
      return resultOf(await tools.call(name, values, { signal: over.signal, showPicture }), pictures);
    } finally {
      stop();
    }
  };

  /** A client that waits only so long is told that work goes on. */
  function tellProgress(progressToken: unknown): () => void {
    if (progressToken === undefined) return () => {};
    const since = clock.elapsed();
    let cancel = clock.after(PROGRESS_MS, tell);
    function tell(): void {
      const progress = Math.round((clock.elapsed() - since) / 1000);
      peer.notify("notifications/progress", { progressToken, progress, message: `Working for ${progress} s` });
      cancel = clock.after(PROGRESS_MS, tell);
    }
    return () => cancel();
  }

  const callTool = (params: Params, id: RpcId): Promise<unknown> => {
    const key = JSON.stringify(id);
    const over = new AbortController();
    const done = call(params, over);
    running.set(key, { over, done });
    const answered = done.finally(() => running.delete(key));
    // What was taken back is not answered: nobody waits for it.
    return answered.catch((thrown) => (over.signal.aborted ? new Promise<never>(() => {}) : Promise.reject(thrown)));
  };

  const methods: Readonly<Record<string, (params: Params, id: RpcId) => unknown>> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion: VERSIONS.find((each) => each === protocolVersion) ?? VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: "holdfast", title: "holdfast", version: VERSION },
      instructions: INSTRUCTIONS,
    }),
    ping: () => ({}),
    "tools/list": async () => ({ tools: await tools.list() }),
    "tools/call": callTool,
  };

  const peer = createRpcPeer(clock, write, {
    request(method, params, id) {
      const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
      return handler && (async () => await handler(isRecord(params) ? params : {}, id))();
    },
    notification(method, params) {
      if (method !== "notifications/cancelled" || !isRecord(params)) return;
      running.get(JSON.stringify(params["requestId"]))?.over.abort(new Error("The client took it back"));
    },
    skipped: (line) => note(`Not understood: ${line.slice(0, 200)}`),
  });

  return {
    receive(line) {
      // Version 2025-03-26 has batches.
      if (!line.startsWith("[")) return peer.receive(line);
      try {
        for (const message of JSON.parse(line) as unknown[]) peer.receive(JSON.stringify(message));
      } catch (thrown) {
        note(`Not understood: ${messageOf(thrown)}`);
      }
    },
    async end() {
      const left = [...running.values()];
      for (const { over } of left) over.abort(new Error("The client is gone"));
      await Promise.allSettled(left.map(({ done }) => done));
      peer.end(new Error("The client is gone"));
    },
  };
}
