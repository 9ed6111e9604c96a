// How does a command get at a plugin session, and what does it do when host or plugin go away meanwhile?
import type { BridgeConnection } from "../bridge/connection.ts";
import type { BridgeSession } from "../bridge/session.ts";
import type { Wanted } from "../core/resolve.ts";
import { ACTIONS, type ActionName } from "../protocol/actions.ts";
import { ContextNotFoundError, Fault, SessionNotFoundError } from "../protocol/fault.ts";
import { CONTEXTS } from "../protocol/vocabulary.ts";
import { choice, duration, text, toggle } from "../surface/argument.ts";
import { listAgentSessions } from "./agent-list.ts";
import { isLoss } from "./ask-again.ts";
import type { Context, OpenOptions } from "./context.ts";
import { within } from "./time-limit.ts";

const WAIT = "30 s";

export const noStartArg = toggle("Fail instead of starting a host in the background");

/** Arguments of every command that needs one session. */
export const sessionArgs = {
  session: text("The session's id, as holdfast sessions lists it", { optional: true, completes: "plugin-session" }),
  instance: text("The instance, when several are connected", { optional: true, completes: "instance" }),
  context: choice("The context within the instance (default: its only one, else edit)", CONTEXTS, { optional: true }),
  noStart: noStartArg,
};

export const timeoutArg = (action: ActionName) =>
  duration(
    `How long the whole command may take (default: ${WAIT} for a session, then ${ACTIONS[action].timeoutMs / 1000} s)`,
    { optional: true },
  );

export interface SessionArgs extends Wanted {
  port: number;
  noStart: boolean;
  timeout?: number | undefined;
}

const SESSION_WAIT_MS = 30_000;

export const openAsCommand = (
  context: Context,
  { port, noStart }: { port: number; noStart: boolean },
  options: Partial<OpenOptions> = {},
) => {
  const startHost = noStart ? undefined : () => context.startBackgroundHost(port);
  return context.open({ port, mode: "command", startHost, ...options });
};

export interface SessionUse {
  connection: BridgeConnection;
  /** What is left of the whole command's time. */
  leftMs(): number;
  /** For one action: what is left of `--timeout`, else the action's own default. */
  actionMs(): number;
  find(wanted?: Wanted): Promise<BridgeSession>;
}

/** What is waited for, and where to look for it. */
export function describeWait({ session, instance }: Wanted): string {
  const [what, name] = session === undefined ? ["instance", instance] : ["session", session];
  if (name === undefined) return "Waiting for a plugin session; start one with: holdfast plugin js";
  return `Waiting for ${what} "${name}"; holdfast sessions lists those that are connected`;
}

const LOOK_MS = 1_000;
const LOST_PLUGIN = "The host changed, and the plugin did not come back in time; raise it with --timeout";

/** Both kinds stand in one list: the name may be an agent session's. */
async function agentSessionFault(context: Context, connection: BridgeConnection, name: string) {
  const all = await within(context, LOOK_MS, listAgentSessions(connection)).catch(() => []);
  if (!all.some((each) => each.name === name)) return undefined;
  const message = `There is no plugin session "${name}", but an agent session; holdfast prompt and attach take that`;
  return new SessionNotFoundError(message);
}

export async function useSession(context: Context, args: SessionArgs, action: ActionName): Promise<SessionUse> {
  const { clock } = context.world;
  const { timeoutMs } = ACTIONS[action];
  const deadline = clock.elapsed() + (args.timeout ?? SESSION_WAIT_MS + timeoutMs);
  const leftMs = () => Math.max(0, deadline - clock.elapsed());
  const actionMs = () => (args.timeout === undefined ? timeoutMs : Math.max(1, leftMs()));
  const opening = openAsCommand(context, args);
  const connection = await (args.timeout === undefined ? opening : within(context, args.timeout, opening));
  let hosts = 0;
  connection.on("host-found", () => void hosts++);
  /** Plugins come back to a new host after a moment: whoever was there is waited for anew. */
  const resolve = async (wanted: Wanted): Promise<BridgeSession> => {
    for (;;) {
      const before = hosts;
      try {
        return await connection.resolveSession(wanted, Math.min(leftMs(), SESSION_WAIT_MS));
      } catch (thrown) {
        const isMissing = thrown instanceof SessionNotFoundError || thrown instanceof ContextNotFoundError;
        if (!isMissing || hosts === 0) throw thrown;
        if (leftMs() === 0) throw new Fault("TIMEOUT", LOST_PLUGIN, {}, { cause: thrown });
        if (hosts === before) throw thrown;
      }
    }
  };
  const find = async (wanted: Wanted = args): Promise<BridgeSession> => {
    const waiting = context.printer.progress(describeWait(wanted));
    try {
      return await resolve(wanted);
    } catch (thrown) {
      if (!(thrown instanceof SessionNotFoundError) || wanted.session === undefined) throw thrown;
      throw (await agentSessionFault(context, connection, wanted.session)) ?? thrown;
    } finally {
      waiting.done();
    }
  };
  return { connection, leftMs, actionMs, find };
}

/** Only for what the action table calls idempotent: asked again on the next host, within the caller's time. */
export async function askAgain<Answer>(
  context: Context,
  args: SessionArgs,
  action: ActionName,
  ask: (session: BridgeSession, timeoutMs: number) => Promise<Answer>,
): Promise<Answer> {
  const { find, leftMs, actionMs } = await useSession(context, args, action);
  let wanted: Wanted = args;
  for (;;) {
    const session = await find(wanted);
    // The session id is new after a reconnect; instance and context last.
    const { instanceId: instance, context: place } = session.info;
    wanted = { instance, context: place };
    const working = context.printer.progress(`Waiting for ${session.info.placeName || instance}`);
    try {
      return await ask(session, actionMs());
    } catch (thrown) {
      if (!isLoss(thrown)) throw thrown;
      if (leftMs() === 0) throw new Fault("TIMEOUT", "No plugin answered in time", {}, { cause: thrown });
      context.printer.note("The connection was lost; asking again on the next host");
    } finally {
      working.done();
    }
  }
}
