// How does a process stay as host or in line until it is told to go? Shared by `serve` and the background host.
import type { BridgeListener } from "../bridge/bridge.ts";
import type { Context, OpenOptions } from "./context.ts";

export type Tell = (type: string, data: Record<string, unknown>, text: string) => void;

/** Nothing is told before `started`: a plugin may be faster than the line that says we host. */
function inOrder(tell: Tell): { tell: Tell; start(): void } {
  let waiting: Parameters<Tell>[] | undefined = [];
  return {
    tell: (...event) => (waiting ? void waiting.push(event) : tell(...event)),
    start() {
      const events = waiting ?? [];
      waiting = undefined;
      for (const event of events) tell(...event);
    },
  };
}

const listen = (tell: Tell): BridgeListener => ({
  session({ event, sessionId, instanceId, context, session }) {
    if (event === "state-changed") return;
    const data = { sessionId, instanceId, context, ...(session ? { placeName: session.placeName } : {}) };
    tell(`plugin-${event}`, data, `Plugin ${sessionId} ${event} (${instanceId}, ${context})`);
  },
  clientEntered({ clientId, pid, standing }) {
    const kind = standing ? "standing client" : "command";
    tell("client-connected", { clientId, pid, standing }, `Client ${pid ?? clientId} connected (${kind})`);
  },
  clientLeft({ clientId, pid, standing }) {
    tell("client-disconnected", { clientId, pid, standing }, `Client ${pid ?? clientId} disconnected`);
  },
});

export async function stayUntilTold(
  { world, open, signal }: Context,
  options: OpenOptions,
  say: Tell,
): Promise<number> {
  const over = Promise.withResolvers<string>();
  const events = inOrder(say);
  const { notice } = options.listener ?? {};
  const connection = await open({
    ...options,
    listener: {
      ...listen(events.tell),
      ...(notice ? { notice } : {}),
      stopAsked: () => over.resolve("a client asked for it"),
      idle: () => over.resolve("nobody needs it any more"),
    },
  });
  const { role, port } = connection;
  const { pid } = world;
  const where =
    role === "host" ? `Host on 127.0.0.1:${port}` : `In line for port ${port} behind host ${connection.hostPid}`;
  say("started", { port, pid, role }, `${where} (pid ${pid})`);
  events.start();
  connection.on("role-changed", ({ role: now, previous, tookMs }) => {
    say(
      "role-changed",
      { role: now, previous, port, pid, tookMs },
      `Took over as host after ${tookMs} ms (pid ${pid})`,
    );
  });
  connection.on("ended", ({ error }) => (error ? over.reject(error) : undefined));
  signal.addEventListener("abort", () => over.resolve(`of ${signal.reason}`), { once: true });
  if (signal.aborted) over.resolve(`of ${signal.reason}`);
  const why = await over.promise;
  say("shutting-down", { why }, `Shutting down because ${why}`);
  await connection.disconnect();
  say("stopped", {}, "Stopped");
  return 0;
}
