// May this session be stopped now? Its work, its pin and the limits, brought before the guards.
import { checkIdle, firstCheckMs, type IdleAction, type IdleGuard } from "../core/idle.ts";
import { type IdleState, type Pin, sessionGuards, withPin } from "../core/idle-guards.ts";
import type { Log } from "../platform/world.ts";
import { messageOf } from "../protocol/fault.ts";
import type { IdleLimits } from "../protocol/settings.ts";
import type { Idle } from "./idle-entry.ts";
import type { AgentSession } from "./session.ts";
import type { Work } from "./session-needs.ts";

export interface IdleJudgeDeps {
  log: Log;
  limits(): IdleLimits;
  guards?(limits: IdleLimits): readonly IdleGuard<IdleState>[];
}

export interface IdleJudge {
  circumstances(
    session: AgentSession,
    entry: Idle,
    now: number,
  ): { limits: IdleLimits; state: IdleState; guards: readonly IdleGuard<IdleState>[] };
  /** Leaves its notes for the next time in the entry. */
  judge(session: AgentSession, entry: Idle, now: number): IdleAction;
  /** When one is looked at that was never looked at. */
  firstDue(session: AgentSession, entry: Idle, now: number): number;
}

/** A prompt on its way to the agent counts as queued: its turn begins when it is written. */
const stateOf = ({ turn, queued, ...work }: Work) => ({
  ...work,
  queued: turn === "running" && work.outstanding === 0 ? queued + 1 : queued,
});

export function createIdleJudge(
  { log, ...deps }: IdleJudgeDeps,
  pinOf: (session: AgentSession) => Pin | undefined,
): IdleJudge {
  const guardsFor = deps.guards ?? (({ staleOutputMs }: IdleLimits) => sessionGuards(staleOutputMs));

  const circumstances: IdleJudge["circumstances"] = (session, entry, now) => {
    const pin = pinOf(session);
    const limits = withPin(deps.limits(), entry.idleStart, pin, now);
    const { keptBy, failingSince } = entry;
    const state: IdleState = { ...stateOf(session.work), pin, keptBy, failingSince };
    return { limits, state, guards: guardsFor(limits) };
  };

  return {
    circumstances,
    judge(session, entry, now) {
      const { limits, state, guards } = circumstances(session, entry, now);
      const keptBy: string[] = [];
      const failingSince: Record<string, number> = {};
      const action = checkIdle(entry.idleStart, entry.guardDeferred, guards, state, limits, now, {
        kept: (guard) => void keptBy.push(guard),
        failed(guard, thrown) {
          failingSince[guard] = entry.failingSince[guard] ?? now;
          log.warn(`The idle guard "${guard}" failed`, { session: session.options.name, why: messageOf(thrown) });
        },
      });
      entry.failingSince = failingSince;
      entry.keptBy = keptBy;
      return action;
    },
    firstDue: (session, entry, now) => entry.idleStart + firstCheckMs(circumstances(session, entry, now).limits),
  };
}
