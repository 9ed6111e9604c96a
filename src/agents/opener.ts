// How does a session get into an agent process? New, resumed, or loaded with its replay left out; never silently fresh.

import type { Clock } from "../platform/world.ts";
import { type InitializeResult, RPC } from "../protocol/acp.ts";
import { RpcFailure } from "../rpc/json-rpc.ts";
import type { AcpClient } from "./acp-client.ts";
import { createEarlyUpdates, type EarlyUpdates, type SaidUpdate } from "./early-updates.ts";
import type { AgentSession } from "./session.ts";
import { setAgain } from "./session-settings.ts";

const can = (marker: unknown): boolean => marker !== undefined && marker !== null;

const sessionCapabilities = (initialized: InitializeResult | undefined) =>
  initialized?.agentCapabilities?.sessionCapabilities ?? {};

/** Whether this agent can close a session without ending the process. */
const canClose = (client: AcpClient): boolean => can(sessionCapabilities(client.initialized).close);

/** Only the agent's own word counts: one that died, or wants a login first, has forgotten nothing. */
const refusal = (thrown: unknown): string => {
  if (thrown instanceof RpcFailure && thrown.code !== RPC.authRequired) return thrown.message;
  throw thrown;
};

/** Modes and options, for whoever asks later what can be chosen. */
const offersIn = (answer: unknown): Record<string, unknown> => {
  const { modes, configOptions } = (answer ?? {}) as Record<string, unknown>;
  return { ...(modes ? { modes } : {}), ...(configOptions ? { configOptions } : {}) };
};

const MINUTE_MS = 60_000;

/** Until the minute is another than that in which the session was opened last. */
async function untilNextMinute({ clock }: OpenerDeps, openedAt: string | undefined): Promise<void> {
  if (openedAt === undefined) return;
  const minute = (ms: number): number => Math.floor(ms / MINUTE_MS);
  const now = clock.now();
  if (minute(now - clock.since(openedAt)) === minute(now)) await clock.sleep(MINUTE_MS - (now % MINUTE_MS));
}

async function restore(
  deps: OpenerDeps,
  client: AcpClient,
  session: AgentSession,
  sessionId: string,
): Promise<string | undefined> {
  const params = { sessionId, cwd: session.options.cwd, mcpServers: deps.mcpServers(session) };
  const why: string[] = [];
  const restored = async (how: "resume" | "load", answer: unknown): Promise<undefined> => {
    session.record("restored", { how, ...offersIn(answer) }, client.position());
    const failures = await setAgain(client, sessionId, session.settings, answer);
    if (failures.length > 0) session.record("settings-lost", { message: `Not set again: ${failures.join("; ")}` });
  };
  if (can(sessionCapabilities(client.initialized).resume)) {
    try {
      return await restored("resume", await client.resumeSession(params));
    } catch (thrown) {
      why.push(refusal(thrown));
    }
  }
  if (client.initialized?.agentCapabilities?.loadSession === true) {
    if (deps.loadsOncePerMinute(session.options.agent)) await untilNextMinute(deps, session.fold.openedAt);
    // Some replay after their answer: the window stays open until the next prompt is written.
    session.suppressed = true;
    session.record("restoring", { how: "load" });
    try {
      return await restored("load", await client.loadSession(params));
    } catch (thrown) {
      session.suppressed = false;
      why.push(refusal(thrown));
    }
  }
  return why.join("; ") || "this agent can neither resume nor load a session";
}

async function openIn(
  deps: OpenerDeps,
  client: AcpClient,
  session: AgentSession,
  named: (sessionId: string) => void,
): Promise<void> {
  const { acpSessionId } = session;
  if (acpSessionId !== undefined) {
    named(acpSessionId);
    const lost = await restore(deps, client, session, acpSessionId);
    if (lost === undefined) return;
    session.record("context-lost", { message: `The earlier conversation is gone: ${lost}` });
  }
  const key = `new ${session.options.name} ${session.fold.openSeq}`;
  const place = { cwd: session.options.cwd, mcpServers: deps.mcpServers(session) };
  const answer = await client.newSession(place, key);
  const { sessionId } = answer;
  session.acpSessionId = sessionId;
  const run = client.position()?.run;
  // In front of all that it said: some speak of a session before they tell its name.
  const said = { acpSessionId: sessionId, ...offersIn(answer) };
  session.record("session-opened", said, run === undefined ? undefined : { run, offset: -1 });
  named(sessionId);
}

export interface Opener {
  /** An earlier host opened it there. */
  isOpen(client: AcpClient, session: AgentSession): void;
  /** Opens it once, however many ask. */
  open(client: AcpClient, session: AgentSession): Promise<AcpClient>;
  clientOf(session: AgentSession): AcpClient | undefined;
  /** Cancel, then `session/close`. */
  leave(session: AgentSession): Promise<void>;
  /** The process is gone, or has forgotten it; whether it had this session. */
  lost(session: AgentSession, client: AcpClient): boolean;
  /** An update of a session whose name nobody knows yet. */
  early(client: AcpClient, sessionId: string, update: SaidUpdate): void;
}

export interface OpenerDeps {
  clock: Clock;
  loadsOncePerMinute(agent: string): boolean;
  mcpServers(session: AgentSession): unknown[];
}

export function createOpener(deps: OpenerDeps): Opener {
  const open = new WeakMap<AgentSession, AcpClient>();
  const opening = new WeakMap<AgentSession, { client: AcpClient; opened: Promise<AcpClient> }>();
  const early = new WeakMap<AcpClient, EarlyUpdates>();
  const earlyOf = (client: AcpClient): EarlyUpdates => {
    const found = early.get(client) ?? createEarlyUpdates();
    early.set(client, found);
    return found;
  };
  return {
    open(client, session) {
      if (open.get(session) === client) return Promise.resolve(client);
      const under = opening.get(session);
      if (under?.client === client) return under.opened;
      const named = (sessionId: string): void => {
        for (const said of earlyOf(client).take(sessionId)) session.updated(said);
      };
      const opened = openIn(deps, client, session, named)
        .then(() => {
          open.set(session, client);
          return client;
        })
        .finally(() => opening.delete(session));
      opening.set(session, { client, opened });
      return opened;
    },
    isOpen: (client, session) => void open.set(session, client),
    clientOf: (session) => open.get(session),
    async leave(session) {
      const giveUp = session.stop();
      const client = open.get(session);
      const { acpSessionId } = session;
      if (client && acpSessionId && canClose(client)) {
        // Forgotten before it is closed: a prompt that comes now opens it again, behind the close.
        open.delete(session);
        await client.closeSession(acpSessionId).catch(() => undefined);
      }
      giveUp();
    },
    lost(session, client) {
      if (open.get(session) !== client) return false;
      return open.delete(session);
    },
    early: (client, sessionId, update) => earlyOf(client).keep(sessionId, update),
  };
}
