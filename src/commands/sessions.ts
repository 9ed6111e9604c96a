// holdfast sessions: who is connected.
import { z } from "zod";
import type { SessionInfo } from "../protocol/client.ts";
import { type Context, holdfastCommand } from "./context.ts";
import { openAsCommand } from "./plugin-session.ts";
import { timeLimitArg, within } from "./time-limit.ts";

export const sessions = holdfastCommand({
  name: "sessions",
  args: z.object({
    watch: z.boolean().default(false).describe("Go on and tell who comes and leaves"),
    noStart: z.boolean().default(false).describe("Fail instead of starting a host in the background"),
    timeout: timeLimitArg,
  }),
  short: { w: "watch" },
  examples: [
    { line: "holdfast sessions", says: "A table of the connected sessions" },
    { line: "holdfast sessions --format json", says: "An array of them" },
  ],
  stands: ({ watch }) => watch,
  async run(args, context) {
    if (args.watch) return await keepWatching(context, args.port);
    const connection = await within(context, args.timeout, openAsCommand(context, args));
    show(context, connection.listSessions());
    return 0;
  },
});

const toJson = (info: SessionInfo) => ({
  kind: "plugin",
  sessionId: info.sessionId,
  instanceId: info.instanceId,
  context: info.context,
  placeName: info.placeName,
  state: info.state,
  capabilities: info.capabilities,
  connectedAt: info.connectedAt,
  ...(info.stale ? { stale: true } : {}),
});

function show({ printer }: Context, infos: readonly SessionInfo[]): void {
  printer.json(infos.map(toJson));
  if (infos.length === 0) return printer.note("No session is connected; start one with: holdfast plugin js");
  printer.table(infos, [
    { title: "SESSION", value: (info) => info.sessionId },
    { title: "INSTANCE", value: (info) => info.instanceId },
    { title: "CONTEXT", value: (info) => info.context },
    { title: "NAME", value: (info) => info.placeName },
    { title: "STATE", value: (info) => (info.stale ? `${info.state}, silent` : info.state) },
    { title: "SINCE", value: (info) => info.connectedAt },
  ]);
}

async function keepWatching(context: Context, port: number): Promise<number> {
  const { printer, signal } = context;
  const connection = await context.open({ port, mode: "standing" });
  const tell = (type: string) => (info: SessionInfo) => {
    const text = `${type.padEnd(12)} ${info.sessionId}  ${info.instanceId}  ${info.context}  ${info.placeName}  ${info.state}`;
    printer.event(type, toJson(info), { text: printer.safe(text) });
  };
  for (const info of connection.listSessions()) tell("connected")(info);
  connection.on("session-connected", tell("connected"));
  connection.on("session-disconnected", tell("disconnected"));
  connection.on("session-changed", tell("changed"));
  connection.on("host-found", ({ role, hostPid, tookMs }) => {
    printer.event("host-changed", { role, hostPid, tookMs }, { text: `New host ${hostPid} after ${tookMs} ms` });
  });
  await new Promise<void>((resolve, reject) => {
    connection.on("ended", ({ error }) => (error ? reject(error) : resolve()));
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return 0;
}
